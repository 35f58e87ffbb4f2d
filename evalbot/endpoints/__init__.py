"""The only place that speaks HTTP to models."""
