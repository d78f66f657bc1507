"""Search for the modes of a model."""
