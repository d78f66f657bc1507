"""The words that a task may name, and what each stands for.

A function of a registry is given parts of a task by position (`parts_of`) and settings of the
task by keyword (`settings_of`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

PATHS: dict[str, Callable] = {}
SCHEDULES: dict[str, Callable] = {}
ESTIMATORS: dict[str, Callable] = {}


def register(registry: dict, name: str):
    """Decorator: let tasks name the function in ``PATHS``, ``SCHEDULES`` or ``ESTIMATORS``."""

    def enter(function):
        registry[name] = function
        return function

    return enter


def parts_of(function, kind=set):
    """Names of the positional parameters."""
    parameters = inspect.signature(function).parameters.values()
    return kind(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)


def settings_of(function) -> dict:
    """Types and defaults (None: must be given) of the keyword-only parameters."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return {
        p.name: (p.annotation, None if p.default is p.empty else p.default)
        for p in parameters
        if p.kind is p.KEYWORD_ONLY
    }
