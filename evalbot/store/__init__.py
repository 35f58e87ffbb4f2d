"""The record: the only place that imports SQLAlchemy. docs/record.md draws it."""
