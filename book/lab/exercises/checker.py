"""How an answer is judged: tasks by name, hints at typical mistakes, marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from .own import Own

KINDS = ("derivation", "coding", "experiment", "trap", "reading", "step")
LESSONS = (
    "start", "mcmc_basics", "ais", "varopt", "rts", "rts_continuous", "sams", "tap", "tracking",
    "leaky_rbm", "proteins", "line", "project",
)  # fmt: skip


class NotYet(Exception):
    """An answer is not right; the message is the hint."""


class Task(NamedTuple):
    """A question that can be marked: its judge raises `NotYet` or returns nothing.

    What the judge has as its docstring is said after a right answer: one sentence, why it is right.
    Without points a task is optional.
    """

    name: str
    kind: str
    points: int
    judge: Callable[[Any, Own], None]


_TASKS: dict[str, dict[str, Task]] = {}


def task(kind: str, points: int = 2, *, lesson: str | None = None):
    """Decorator: the function that follows judges the answer of the task that has its name.

    The lesson is the name of the file, unless it is given: a judge may serve two lessons.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}, not {kind!r}")

    def register(judge):
        of = lesson or judge.__module__.rsplit(".", 1)[-1]
        name = judge.__name__
        _TASKS.setdefault(of, {})[name] = Task(name, kind, points, judge)
        return judge

    return register


def tasks_of(lesson: str) -> dict[str, Task]:
    """The tasks of a lesson by name, in the order of its page."""
    if lesson not in LESSONS:
        raise ValueError(f"there is no lesson {lesson!r}; there are {', '.join(LESSONS)}")
    import_module(f".{lesson}", __package__)
    return _TASKS[lesson]


def begin(lesson: str, name: str) -> Checker:
    """The checker of a lesson, for one student."""
    return Checker(lesson, name)


class Checker:
    """Marks the answers of one student to the exercises of one lesson.

    Its attributes are this student's: ``model``, ``base``, ``path``, ``rng(purpose)`` and what the
    lesson adds to them.
    """

    def __init__(self, lesson: str, name: str):
        self.lesson = lesson
        self.tasks = tasks_of(lesson)
        self.own = Own(name)
        self.marks = dict.fromkeys(self.tasks, 0)

    @property
    def model(self):
        return self.own.model

    @property
    def base(self):
        return self.own.base

    @property
    def path(self):
        return self.own.path

    def rng(self, purpose: str = "student") -> np.random.Generator:
        return self.own.rng(f"for the student/{purpose}")

    def given(self, name: str):
        """What the text of a task calls "given": numbers or models of your own."""
        module = import_module(f".{self.lesson}", __package__)
        if name not in (known := getattr(module, "GIVEN", {})):
            raise ValueError(f"nothing is given as {name!r}; there are {', '.join(known)}")
        return known[name](self.own)

    def judge(self, name: str, answer) -> str | None:
        """The hint, or None if the answer is right. Never raises for a wrong answer."""
        if name not in self.tasks:
            raise ValueError(f"there is no task {name!r}; there are {', '.join(self.tasks)}")
        if answer is None or answer is ...:
            return "no answer yet"
        try:
            self.tasks[name].judge(answer, self.own)
        except NotYet as hint:
            return str(hint)
        except NotImplementedError:
            return "no answer yet"
        except Exception as error:  # of the student's code: it is told, not raised
            if isinstance(error, TypeError) and not callable(answer) and "callable" in str(error):
                return f"give a function, not {type(answer).__name__}"
            return f"your answer raised {type(error).__name__}: {error}"
        return None

    def __call__(self, name: str, answer) -> None:
        """Mark an answer and print what was found."""
        hint = self.judge(name, answer)
        found = self.tasks.get(name)
        assert found is not None
        self.marks[name] = found.points if hint is None else 0
        worth = f"{found.points} points" if found.points else "optional"
        why = f". {found.judge.__doc__}" if found.judge.__doc__ else ""
        print(f"{name}: right ({worth}){why}" if hint is None else f"{name}: not yet: {hint}")

    def report(self) -> None:
        """Print the marks, a line a task, and their sum."""
        for name, points in self.marks.items():
            print(f"{name:24} {points} of {self.tasks[name].points}")
        most = sum(t.points for t in self.tasks.values())
        print(f"{self.own.name}, {self.lesson}: {sum(self.marks.values())} of {most} points")


# ------------------------------------------------------------------ what judges are made of


def require(condition, hint: str) -> None:
    """Refuse the answer with a hint unless the condition holds."""
    if not condition:
        raise NotYet(hint)


def numbers(answer, shape: tuple | None = None, what: str = "your answer") -> np.ndarray:
    """The answer as an array of finite numbers of a shape, or a hint."""
    require(answer is not None, f"{what} is None: does your function return something?")
    try:
        found = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        raise NotYet(f"{what} is {type(answer).__name__}; numbers are wanted") from None
    if shape is not None and found.shape != shape:
        raise NotYet(f"the shape of {what} is {found.shape}; it should be {shape}")
    if not np.all(np.isfinite(found)):
        raise NotYet(
            f"{what} is not finite: does something overflow, or is a logarithm taken of 0?"
        )
    return found


def drawn(answer, own: Own, purpose: str, *given) -> np.ndarray:
    """What a function draws with a generator, its last argument: another seed, other numbers."""
    seeds = (purpose, purpose, f"{purpose}, another seed")
    found, again, other = (numbers(answer(*given, own.rng(seed))) for seed in seeds)
    follows = np.array_equal(found, again) and (np.ptp(found) == 0 or np.any(found != other))
    require(follows, "draw with the generator that is given, and with no other")
    return found


def same(
    answer, truth, mistakes: Mapping[str, Any] | None = None, *, rtol: float = 1e-6,
    atol: float = 1e-8, what: str = "your answer",
) -> None:  # fmt: skip
    """The answer equals the truth; if it equals a known mistake instead, its hint is given."""
    truth = np.asarray(truth, dtype=float)
    found = numbers(answer, None, what)
    if found.shape == truth.shape and np.allclose(found, truth, rtol=rtol, atol=atol):
        return
    for hint, wrong in (mistakes or {}).items():
        wrong = np.asarray(wrong, dtype=float)  # of another shape than the truth, maybe
        if wrong.shape == found.shape and np.allclose(found, wrong, rtol=rtol, atol=atol):
            raise NotYet(hint)
    numbers(found, truth.shape, what)
    worst = np.unravel_index(np.argmax(abs(found - truth)), truth.shape) if truth.ndim else ()
    raise NotYet(f"{what} is {found[worst]:.6g} where {truth[worst]:.6g} is right")


def near(answer, truth: float, allowed: float, mistakes: Mapping[str, float] | None = None):
    """One number, within an allowance; for what is read off a figure or measured."""
    found = float(numbers(answer, ()))
    if abs(found - truth) <= allowed:
        return
    for hint, wrong in (mistakes or {}).items():
        if abs(found - wrong) <= allowed:
            raise NotYet(hint)
    raise NotYet(f"{found:.4g} is not it")


def choice(answer, right: str, why: Mapping[str, str]):
    """One letter of several; ``why`` says what is wrong with the others."""
    letter = str(answer).strip(" ().\n").lower()
    if letter == right:
        return
    raise NotYet(why.get(letter, f"answer with one letter of {', '.join(sorted([right, *why]))}"))


def mean_is(values, truth: float, hint: str, *, most: float = 5.0) -> None:
    """The mean of independent values agrees with the truth within ``most`` standard errors."""
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values))
    require(abs(values.mean() - truth) <= most * error + 1e-9, hint)


def distribution_is(codes, expected, hint: str, *, most: float = 5.5) -> None:
    """Counts of states agree with their probabilities, each within ``most`` standard errors."""
    p = np.asarray(expected, dtype=float)
    n = len(codes)
    counts = np.bincount(np.asarray(codes, dtype=int), minlength=len(p))
    require(len(counts) == len(p), "a state that does not exist came out")
    off = abs(counts - n * p) / np.sqrt(n * p * (1 - p) + 1)
    require(off.max() <= most, hint)


def binary(answer, shape: tuple, what: str) -> np.ndarray:
    """States of zeros and ones of a shape."""
    found = numbers(answer, shape, what)
    require(
        np.isin(found, (0, 1)).all(),
        f"{what} must be zeros and ones: draw them, do not return their probabilities",
    )
    return found


def codes_of(rows: np.ndarray) -> np.ndarray:
    """Rows of zeros and ones as whole numbers, in the order of `states`."""
    return (rows @ 2 ** np.arange(rows.shape[1])[::-1]).astype(int)
