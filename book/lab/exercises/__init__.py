"""Exercises that mark themselves: one file per lesson, and ``line`` for building the library.

``check = begin("ais", "ada")`` makes a model for this name. ``check("path_score", my_function)``
hints at mistakes. The questions are in ``book/exercises``.
"""

from .checker import Checker, NotYet, begin, tasks_of

__all__ = ["Checker", "NotYet", "begin", "tasks_of"]
