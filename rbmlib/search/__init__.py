"""Search for the modes of a model, and for what a run has missed."""
