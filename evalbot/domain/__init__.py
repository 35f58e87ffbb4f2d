"""The words of evalbot as types: what is passed around, and nothing that acts."""
