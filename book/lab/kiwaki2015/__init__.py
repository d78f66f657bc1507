"""Kiwaki (2015), "Variational optimization of annealing schedules": his tables and figures."""
