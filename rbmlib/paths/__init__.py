"""Annealing paths from a tractable base (beta = 0) to the target (beta = 1)."""
