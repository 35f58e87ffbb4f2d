"""Judge models of any provider: the only place that imports litellm, and only when judging."""
