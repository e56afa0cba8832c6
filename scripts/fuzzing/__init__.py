"""Inputs that are broken on purpose, and the checks of what commands do; see ``fuzz.py``."""
