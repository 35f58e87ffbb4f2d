"""File formats: evalbot.yaml, suites, rubrics, imports, tables. Texts in, types out, and back."""
