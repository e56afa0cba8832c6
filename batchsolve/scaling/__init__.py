"""Scaling of a search: measure it, simulate it, report it."""
