"""Reviewing services: people, what they are given to grade, and what becomes of it."""
