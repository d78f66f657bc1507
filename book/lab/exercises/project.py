"""The project: eight numbers for four published models, and the wrong ones in a report."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from rbmbook.wang import printed, printed_error, truth
from rbmlib.datasets import committed

from .checker import Own, each_named, letter, numbers, require, task

ALLOWED = {"h10": 0.05, "h20": 0.05, "h100": 0.15, "h500": 0.5}  # nats
WIDTHS = {"h10": 0.5, "h20": 1.0, "h100": 1.0, "h500": 4.0}
N_IMAGES = 10_000


def standard_errors_off(method: str, model: str) -> tuple[float, dict[str, float]]:
    """Error of a mean of 20 chains of the report, in its standard errors, and typical mistakes."""
    off = printed_error(model, method)
    variance = float(printed(method).loc[model, "variance"])
    return off / np.sqrt(variance / 20), {
        "divide by the standard error of the mean of 20 chains": off / np.sqrt(variance),
        "this is the distance in nats": off,
    }


_each = partial(each_named, names=[*ALLOWED])


@task("coding", 8)
def log_zs(answer, own: Own):
    for name, value in _each(answer, what="log Z").items():
        off = abs(float(numbers(value, (), name)) - truth(name))
        base = "did the chains begin at the base whose biases come from the training images?"
        require(off < 1, f"{name} is more than a nat off: {base}")
        require(off <= ALLOWED[name], f"{name} is more than {ALLOWED[name]} nats off")


@task("coding", 8)
def likelihoods(answer, own: Own):
    table = pd.read_csv(committed("results/ais_likelihood.csv"))
    runs = table.set_index(["test_set", "estimator", "model"]).loc["course", "ais"]
    for name, value in _each(answer, what="sum of log p(v) over the test images").items():
        found = float(numbers(value, (), name))
        scores = float(runs["log_likelihood"][name] + N_IMAGES * runs["log_z"][name])
        right = scores - N_IMAGES * truth(name)
        require(abs(found * N_IMAGES / right - 1) > 0.01, f"{name}: give the sum, not the mean")
        require(abs(found - scores) > N_IMAGES, f"{name}: subtract log Z once for each image")
        off = abs(found - right)
        require(off <= N_IMAGES * ALLOWED[name], f"{name} is {off:,.0f} nats off: did you use the "
                "right images, and are they zeros and ones?")  # fmt: skip


@task("experiment", 4)
def brackets(answer, own: Own):
    for name, pair in _each(answer, what="(lower, upper)").items():
        low, high = numbers(pair, (2,), name)
        log_z, allowed = truth(name), ALLOWED[name]
        require(low < high, f"{name}: give the lower end first")
        inside = low - allowed < log_z < high + allowed
        require(inside, f"{name}: the book's value is not between the two means")
        wide = f"{name}: take more steps, until the gap is less than {WIDTHS[name]} nats"
        require(high - low < WIDTHS[name], wide)


@task("trap", 8)
def wrong(answer, own: Own):
    pairs = list(product(("AIS", "TAP", "RTS", "SAMS"), ALLOWED))
    row = {"TAP": "TAP ("}
    right = {(a, b) for a, b in pairs if abs(printed_error(b, row.get(a, a))) > 1}
    try:
        found = {(str(method).upper(), str(model).lower()) for method, model in answer}
    except (TypeError, ValueError):
        found = set()
    require(found and found <= set(pairs),
            'give pairs: {("AIS", "h10"), ...}, with the methods AIS, TAP, RTS, SAMS')  # fmt: skip
    require(not right - found, f"{len(right - found)} more of the report's numbers are wrong")
    require(not found - right, f"{len(found - right)} of these are within one nat")


h20 = letter(
    "c", "From the base rate of the data, chains of the same length find that mode and are right.",
    kind="trap", points=2,
    a="with 60,000 steps from the base rate of the data every chain is within 1.3 nats",
    b="the same model is estimated well from another base, so it is not to blame",
    d="more chains would give a smaller error, but the same mean in expectation",
)  # fmt: skip
