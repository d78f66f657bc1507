"""Exercises that mark themselves: one file per lesson, and ``line`` for building the library.

``check = begin("ais", "ada")`` makes a model for this name, small enough to sum its log Z exactly.
``check("path_score", my_function)`` compares an answer with the truth and hints at mistakes, and
``check.report()`` counts the marks. The questions are in ``book/exercises``.
"""

from .checker import Checker, NotYet, begin, tasks_of

__all__ = ["Checker", "NotYet", "begin", "tasks_of"]
