"""Grading services: automatic scoring, and what a run is graded by."""
