"""Annealing paths: WHAT is annealed, from a tractable base (beta = 0) to the target (beta = 1)."""
