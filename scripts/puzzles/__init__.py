"""Generators of the puzzles in ``datasets/``, for `make_datasets`."""
