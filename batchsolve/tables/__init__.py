"""Tables of puzzles, in and out."""
