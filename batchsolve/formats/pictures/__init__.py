"""Covers as drawings: a board with its pieces, a grid with its digits."""
