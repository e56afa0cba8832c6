"""How problems and covers are written: .dlx, .ec, JSON, .npz, .tiling; drawings; texts."""
