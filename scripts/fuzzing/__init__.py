"""Inputs that are broken on purpose, and what commands may make of them; see ``fuzz.py``."""
