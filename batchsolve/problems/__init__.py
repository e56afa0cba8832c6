"""Exact cover problems and Sudoku: items, options, bounds, colours, costs, and stacks over them."""
