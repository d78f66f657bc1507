"""Models: layers and the weights between them, densities, conditionals, loading and saving."""
