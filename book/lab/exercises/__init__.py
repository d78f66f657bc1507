"""Exercises that mark themselves: one file a lesson, and ``line`` for the library built in steps.

``check = begin("ais", "ada")`` makes a model that belongs to the name; ``check("path_score",
my_function)`` says what may be wrong. The questions stand in ``book/exercises``.
"""

from .checker import Checker, NotYet, begin, tasks_of

__all__ = ["Checker", "NotYet", "begin", "tasks_of"]
