"""Entry points: solve, count, enumerate, export; runs and their journals; job arrays."""
