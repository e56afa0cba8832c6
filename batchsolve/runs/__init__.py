"""What users start: solve, count, enumerate, export; runs and their journal; job arrays."""
