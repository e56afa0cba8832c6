"""Exact cover problems, Sudoku among them, and how they and their covers are written."""
