"""Judging answers: kinds of tasks, hints at typical mistakes, and marks.

`function` is for an answer that is a function and is tried on cases, `number` is for a measured
number, `letter` for a choice, and `task` for everything else. Each hint belongs to a wrong answer.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import rbmlib as rl

LESSONS = (
    "start", "mcmc_basics", "ais", "varopt", "rts", "rts_continuous", "sams", "tap", "tracking",
    "leaky_rbm", "proteins", "line", "project",
)  # fmt: skip
N_VISIBLE, N_HIDDEN = 8, 5  # of a student's model


class NotYet(Exception):
    """Raised for a wrong answer; the message is the hint."""


class Task(NamedTuple):
    """A question that can be marked; its judge raises `NotYet` or returns nothing.

    ``held_to(own)`` returns the cases of `function`, or the right number with wrong ones by hint.
    """

    kind: str
    points: int
    why: str | None
    judge: Callable[[Any, Own], None]
    held_to: Callable[[Own], Any] | None = None


def tasks_of(lesson: str) -> dict[str, Task]:
    """The tasks of a lesson by name, in the order of its page."""
    if lesson not in LESSONS:
        raise ValueError(f"there is no lesson {lesson!r}; there are {', '.join(LESSONS)}")
    defined = vars(import_module(f".{lesson}", __package__))
    return {name: found for name, found in defined.items() if isinstance(found, Task)}


def begin(lesson: str, name: str) -> Checker:
    checker = Checker(lesson, name)
    print("Try each answer as often as you like: the last try counts.")
    return checker


class Checker:
    """Marks the answers of one student in a lesson; has the student's model, base and path."""

    def __init__(self, lesson: str, name: str):
        self.lesson = lesson
        self.tasks = tasks_of(lesson)
        self.own = Own(name)
        self.model, self.base, self.path = self.own.model, self.own.base, self.own.path
        self.marks = dict.fromkeys(self.tasks, 0)

    def rng(self) -> np.random.Generator:
        return self.own.rng("for the student/student")

    def given(self, name: str):
        """The "given" numbers or models of a task, which are your own."""
        known = getattr(import_module(f".{self.lesson}", __package__), "GIVEN", {})
        if name not in known:
            raise ValueError(f"nothing is given as {name!r}; there are {', '.join(known)}")
        return known[name](self.own)

    def judge(self, name: str, answer) -> str | None:
        """The hint, or None if the answer is right; a wrong answer raises nothing."""
        if name not in self.tasks:
            raise ValueError(f"there is no task {name!r}; there are {', '.join(self.tasks)}")
        if answer is None or answer is ...:
            return "no answer yet"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rl.ConvergenceWarning)  # from the right answer
                self.tasks[name].judge(answer, self.own)
        except NotYet as hint:
            return str(hint)
        except Exception as error:  # report errors of the student's code
            return f"your answer raised {type(error).__name__}: {error}"
        return None

    def __call__(self, name: str, answer) -> None:
        hint = self.judge(name, answer)
        found = self.tasks[name]
        self.marks[name] = found.points if hint is None else 0
        points = f"{found.points} point{'s' * (found.points > 1)}" if found.points else "optional"
        why = f". {found.why}" if found.why else ""
        print(f"{name}: right ({points}){why}" if hint is None else f"{name}: not yet: {hint}")

    def report(self) -> None:
        for name, points in self.marks.items():
            print(f"{name:24} {points} of {self.tasks[name].points}")
        most = sum(t.points for t in self.tasks.values())
        print(f"{self.own.name}, {self.lesson}: {sum(self.marks.values())} of {most} points")


class Own:
    """Models, bases and random numbers of a student, which the name determines."""

    def __init__(self, name: str):
        if not isinstance(name, str) or not name.strip():
            raise ValueError('give your name, for example exercises.begin("ais", "ada")')
        self.name = name.strip()

    def rng(self, purpose: str) -> np.random.Generator:
        text = f"{self.name.casefold()}/{purpose}".encode()
        return np.random.default_rng(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))

    @cached_property
    def model(self) -> rl.BernoulliRBM:
        return rl.testsystems.random_rbm(N_VISIBLE, N_HIDDEN, coupling=4.0, rng=self.rng("model"))

    @cached_property
    def base(self) -> np.ndarray:
        """Visible biases of a base of independent units."""
        return self.rng("base").normal(scale=0.6, size=N_VISIBLE)

    @cached_property
    def path(self) -> rl.GeometricPath:
        return rl.GeometricPath(self.model, base=self.base)

    @cached_property
    def log_z(self) -> float:
        return rl.exact(self.model).log_z

    def log_z_at(self, betas) -> np.ndarray:
        """Exact log Z at each beta of the path."""
        return np.array([rl.exact(self.path.at(b)).log_z for b in np.atleast_1d(betas)])

    def some_states(self, n: int, units: int = N_VISIBLE) -> np.ndarray:
        return self.rng("states").integers(0, 2, (n, units)).astype(float)

    def number(self, purpose: str, low: float, high: float, digits: int = 1) -> float:
        """A number for this student between ``low`` and ``high``."""
        return round(float(self.rng(purpose).uniform(low, high)), digits)

    def whole(self, purpose: str, low: int, high: int) -> int:
        return int(self.number(purpose, low, high, 0))


def task(kind: str, points: int):
    return lambda judge: Task(kind, points, judge.__doc__, judge)


def letter(right: str, why: str, *, kind: str = "reading", points: int = 1, **others: str) -> Task:
    """A choice of one letter; each of the other letters has a hint."""

    def judge(answer, own):
        found = str(answer).strip(" ().\n").lower()
        known = ", ".join(sorted([right, *others]))
        require(found == right, others.get(found, f"answer with one letter of {known}"))

    return Task(kind, points, why, judge)


def number(kind: str, points: int, within: float = 0.0, *, share: float = 0.0):
    """Decorator of a function that returns the right number, and wrong numbers by hint."""

    def register(truth):
        def judge(answer, own):
            same(answer, *truth(own), rtol=share, atol=within, tell=False)

        return Task(kind, points, truth.__doc__, judge, truth)

    return register


class Case(NamedTuple):
    """A function that is ``given`` these arguments should return ``right``.

    If ``right`` is itself a function, it draws with a generator, its last argument, and so should
    the answer; ``rows`` turns the result into an array with one row per chain. ``hints`` has known
    wrong results or functions. ``what`` names the result; for draws, it is the hint at other
    mistakes.
    """

    given: tuple
    right: Any
    hints: Mapping[str, Any] = {}
    what: str = "your answer"
    rows: Callable[..., np.ndarray] = lambda *parts: np.column_stack(parts)


def function(kind: str, points: int, **tolerance):
    """Decorator of a generator of cases on which a function is tried in turn.

    A case may also be a check: a function of the answer that raises `NotYet`.
    """

    def register(cases):
        def judge(answer, own):
            require(callable(answer), f"give a function, not {type(answer).__name__}")
            for case in cases(own):
                if callable(case):
                    case(answer)
                elif callable((case := Case(*case)).right):
                    _same_draws(answer, own, case)
                else:
                    found = call(answer, case.given)
                    same(found, case.right, case.hints, what=case.what, **tolerance)

        return Task(kind, points, cases.__doc__, judge, cases)

    return register


def _same_draws(answer, own: Own, case: Case) -> None:
    """Compare two seeds of the answer with one of the right function, to five standard errors."""

    def parts(draw, seed):
        drawn = call(draw, (*case.given, own.rng(seed)))
        return drawn if isinstance(drawn, tuple) else (drawn,)

    right = parts(case.right, "right")

    def rows(draw, seed):
        found = parts(draw, seed)
        require(len(found) == len(right), f"return {len(right)} arrays, not {len(found)}")
        for x, wanted in zip(found, right, strict=True):
            binary = np.isin(wanted, (0, 1)).all() and not np.isin(numbers(x), (0, 1)).all()
            require(not binary, "return zeros and ones: draw them, do not return probabilities")
            numbers(x, np.shape(wanted), "what you return")
        return case.rows(*found)

    found, again, other = (rows(answer, seed) for seed in ("one", "one", "two"))
    truth = case.rows(*right)
    varies = bool(np.any(np.ptp(truth, axis=0) > 0))
    follows = "draw with the generator that is given, and with no other"
    require(np.array_equal(found, again), follows)
    if not (_alike(found, truth) and _alike(other, truth)):
        for hint, draw in case.hints.items():
            require(not _alike(found, rows(draw, "wrong")), hint)
        equal = varies and not np.any(np.ptp(found, axis=0) > 0)
        require(not equal, "all chains are equal: draw separate random numbers for each")
        raise NotYet(case.what)
    require(not varies or not np.array_equal(found, other), follows)


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Are the means of columns and of products of two columns equal, to five standard errors?"""
    i, j = np.triu_indices(one.shape[1])
    one, other = (np.concatenate([x, x[:, i] * x[:, j]], axis=1) for x in (one, other))
    error = np.sqrt(one.var(axis=0) / len(one) + other.var(axis=0) / len(other))
    return bool(np.all(abs(one.mean(axis=0) - other.mean(axis=0)) <= 5 * error + 1e-9))


def require(condition, hint: str) -> None:
    if not condition:
        raise NotYet(hint)


def each_named(answer, names, what: str) -> dict:
    """Return the answer if it is a dict with all of these names."""
    require(isinstance(answer, dict), f'give a dict: {{"{names[0]}": {what}, ...}}')
    missing = [name for name in names if name not in answer]
    require(not missing, f"missing: {', '.join(missing)}")
    return {name: answer[name] for name in names}


def call(answer: Callable, given: tuple):
    """Result of a function, which may not change its array arguments."""
    kept = [np.array(x) if isinstance(x, np.ndarray) else None for x in given]
    found = answer(*given)
    changed = any(k is not None and np.any(k != x) for k, x in zip(kept, given, strict=True))
    require(not changed, "your function changes an array that it was given: copy it first")
    return found


def numbers(answer, shape: tuple | None = None, what: str = "your answer") -> np.ndarray:
    """The answer as an array of finite numbers of this shape; otherwise, a hint is raised."""
    require(answer is not None, f"{what} is None: is `return` missing?")
    try:
        found = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        raise NotYet(f"{what} should be numbers, not {type(answer).__name__}") from None
    wanted = f"the shape of {what} is {found.shape}; it should be {shape}"
    require(shape in (None, found.shape), wanted)
    finite = f"{what} is not finite: does something overflow, or is a logarithm taken of 0?"
    require(np.all(np.isfinite(found)), finite)
    return found


COMMON = {
    "check the sign": np.negative,
    "this is exp of what is wanted: take the logarithm": np.exp,
    "this is the logarithm of what is wanted": np.log,
    "rows and columns are exchanged": np.transpose,
    "this is one over what is wanted: turn the fraction over": np.reciprocal,
    "this is the square of what is wanted: take the root": np.square,
    "this is the root of what is wanted": np.sqrt,
    "this is twice what is wanted": lambda x: 2 * x,
    "this is half of what is wanted": lambda x: x / 2,
}


def same(
    answer, truth, mistakes: Mapping[str, Any], *, rtol: float = 1e-6, atol: float = 1e-8,
    what: str = "your answer", tell: bool = True,
) -> None:  # fmt: skip
    """Raise a hint unless the answer equals the truth; known mistakes have their own hints."""
    truth, found = np.asarray(truth, dtype=float), numbers(answer, None, what)

    def equals(other):
        other = np.asarray(other, dtype=float)  # may differ in shape from the truth
        return found.shape == other.shape and np.allclose(found, other, rtol=rtol, atol=atol)

    if equals(truth):
        return
    with np.errstate(all="ignore"):
        common = {hint: change(truth) for hint, change in COMMON.items()}
    for hint, wrong in (mistakes | common).items():
        require(not equals(wrong), hint)
    numbers(found, truth.shape, what)
    require(tell, f"{np.round(found, 4)} is not right")
    worst = np.unravel_index(np.argmax(abs(found - truth)), truth.shape)
    raise NotYet(f"{what} is {found[worst]:.6g} where {truth[worst]:.6g} is right")
