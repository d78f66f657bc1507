"""Loops that are functions of a path: annealing, sweeps, tempering; and samples over betas."""
