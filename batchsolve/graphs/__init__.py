"""Solution graphs: built, drawn from, restricted and kept."""
