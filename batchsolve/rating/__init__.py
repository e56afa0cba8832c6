"""Ratings of puzzles: the techniques that solve them, guesses, and backdoors."""
