"""The report that a lead publishes: what was asked of whom, what came of it, and how sure it is."""
