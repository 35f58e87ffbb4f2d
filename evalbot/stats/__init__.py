"""Statistics as pure functions: statistics.md's formulas, None where undefined."""
