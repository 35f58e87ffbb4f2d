"""The reviewers' app. Nothing in it knows of endpoints, models, judges or speeds."""
