"""Formats of problems and covers: .dlx, .ec, JSON, .npz, .tiling; drawings; texts."""
