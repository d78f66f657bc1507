"""Exercises that mark themselves: one file a lesson.

``line`` is for the library that is built step by step.

``check = begin("ais", "ada")`` makes a model that belongs to the name, small enough that its log Z
is added up. ``check("path_score", my_function)`` compares an answer with the truth and says what
may be wrong; ``check.report()`` counts the marks. The questions stand in ``book/exercises``.
"""

from .checker import Checker, NotYet, Task, begin, tasks_of
from .own import Own

__all__ = ["Checker", "NotYet", "Own", "Task", "begin", "tasks_of"]
