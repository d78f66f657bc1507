"""Search for the modes of a model, and independent checks of estimates."""
