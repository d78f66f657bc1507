"""Models: layers, weights, densities, conditional distributions, and model files."""
