"""The project: eight numbers of four published models, and which of a report's are wrong."""

from __future__ import annotations

import csv

from rbmbook.datasheet import load_reference
from rbmlib.datasets import committed

from .checker import choice, numbers, require, task
from .own import Own

MODELS = ("h10", "h20", "h100", "h500")
ALLOWED = {"h10": 0.05, "h20": 0.05, "h100": 0.15, "h500": 0.5}  # nats
N_IMAGES = 10_000
METHODS = ("AIS", "TAP", "RTS", "SAMS")


def report(method: str, model: str, column: str = "logz") -> float:
    """A number of the course report's table of methods."""
    with open(committed("published/report_methods.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["method"], row["model"]) == (method, model):
                return float(row[column])
    raise LookupError(f"the report has no {method} of {model}")


def reference(model: str) -> float:
    """The book's value of log Z."""
    return load_reference()[model].log_z


def sum_of_scores(model: str) -> float:
    """The sum of log p*(v) over the course's test images."""
    with open(committed("results/ais_likelihood.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["model"], row["test_set"], row["estimator"]) == (model, "course", "ais"):
                return float(row["log_likelihood"]) + N_IMAGES * float(row["log_z"])
    raise LookupError(f"no stored likelihood of {model}")


def _each(answer, what: str) -> dict:
    require(isinstance(answer, dict), f'give a dict: {{"h10": {what}, ...}}')
    missing = [name for name in MODELS if name not in answer]
    require(not missing, f"missing: {', '.join(missing)}")
    return answer


@task("coding", 8)
def log_zs(answer, own: Own):
    for name, value in _each(answer, "log Z").items():
        off = float(numbers(value, (), name)) - reference(name)
        far = "did you take the base rate of the training images as base?"
        require(abs(off) < 1 or name not in ALLOWED, f"{name} is more than a nat off: {far}")
        require(abs(off) <= ALLOWED[name], f"{name} is more than {ALLOWED[name]} nats off")


@task("coding", 8)
def likelihoods(answer, own: Own):
    for name, value in _each(answer, "sum of log p(v) over the test images").items():
        found = float(numbers(value, (), name))
        right = sum_of_scores(name) - N_IMAGES * reference(name)
        require(abs(found * N_IMAGES / right - 1) > 0.01, f"{name}: the sum is wanted, no mean")
        require(
            abs(found - sum_of_scores(name)) > N_IMAGES,
            f"{name}: log Z must be taken away, once for each image",
        )
        require(
            abs(found - right) <= N_IMAGES * ALLOWED[name],
            f"{name} is {abs(found - right):,.0f} nats off: which images are these, and are they "
            "zeros and ones?",
        )


@task("experiment", 4)
def brackets(answer, own: Own):
    for name, pair in _each(answer, "(lower, upper)").items():
        low, high = numbers(pair, (2,), name)
        truth, width = reference(name), {"h10": 0.5, "h20": 1.0, "h100": 1.0, "h500": 4.0}[name]
        require(low < high, f"{name}: give the lower end first")
        require(low < truth + ALLOWED[name] and high > truth - ALLOWED[name],
                f"{name}: the bracket does not hold the value of the book")  # fmt: skip
        require(high - low < width, f"{name}: narrower than {width} nats, please: more steps")


@task("trap", 8)
def wrong(answer, own: Own):
    right = {
        (method, model)
        for method in METHODS
        for model in MODELS
        if abs(_printed(method, model) - reference(model)) > 1
    }
    try:
        found = {(str(method).upper(), str(model).lower()) for method, model in answer}
    except (TypeError, ValueError):
        found = set()
    known = {(method, model) for method in METHODS for model in MODELS}
    require(found and found <= known, 'give pairs: {("AIS", "h10"), ...}, with the methods '
            "AIS, TAP, RTS, SAMS")  # fmt: skip
    require(not right - found, f"{len(right - found)} more of the report's numbers are wrong")
    require(not found - right, f"{len(found - right)} of these are within one nat")


def _printed(method: str, model: str) -> float:
    return report("TAP (order not stated)" if method == "TAP" else method, model)


@task("trap", 2)
def h20(answer, own: Own):
    """From the base rate the same chains find that mode, and are right."""
    choice(answer, "c", {
        "a": "with 60,000 steps from the base rate every chain is within 1.3 nats",
        "b": "the same model is estimated well from another base, so it is not to blame",
        "d": "a sample of 20 has the same mean, only a larger error",
    })  # fmt: skip
