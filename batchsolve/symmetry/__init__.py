"""Symmetry: canonical forms, symmetry groups and orbits."""
