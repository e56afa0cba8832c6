"""How a search scales: measuring, simulating, reporting."""
