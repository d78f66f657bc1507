"""Kiwaki (2015), "Variational optimization of annealing schedules": his tables and figures.

`runs` reads and measures the stored runs, `theory` has theorem 1 on a model that can be enumerated
and the exact slopes of paths, `judged` the verdicts that take more than a line, and `pictures` the
figures.
"""
