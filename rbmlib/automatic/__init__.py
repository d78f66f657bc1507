"""Automatic estimation of log Z: bases, modes, rounds, checks and a verdict."""
