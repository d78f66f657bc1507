"""Estimators of log Z, one published method a file; each returns an `Estimate`.

The function ``rl.ais`` stands in the module ``rbmlib.estimators.ais``: this room imports neither.
"""
