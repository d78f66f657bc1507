"""Loops along a path (annealing, sweeps, tempering), and samples over betas."""
