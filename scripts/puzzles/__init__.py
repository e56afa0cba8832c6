"""How the puzzles in ``datasets/`` are made: what `make_datasets` calls."""
