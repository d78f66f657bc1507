"""Wrong arguments of estimators, paths, bases and schedules: an error that names the argument."""

import numpy as np
import pytest
from helpers_models import SMALL
from helpers_refusals import BETAS, DATA, PATH, RAGGED, RBM, assert_refused, named, train

import rbmlib as rl
from rbmlib import BernoulliRBM, GeometricPath

LARGE = BernoulliRBM(np.ones((31, 31)), np.zeros(31), np.zeros(31))

RUNS = {
    "betas from 0.1": (lambda: rl.ais(PATH, [0.1, 1], 9), "betas runs from 0.1"),
    "betas to 0.9": (lambda: rl.ais(PATH, [0, 0.9], 9), "betas runs from 0.0 to 0.9"),
    "falling betas": (lambda: rl.ais(PATH, BETAS[::-1], 9), "betas runs from 1.0 to 0.0"),
    "falling between": (lambda: rl.ais(PATH, [0, 0.6, 0.5, 1], 9), "betas do not rise at step 2"),
    "equal betas": (lambda: rl.reverse_ais(PATH, [0, 0.5, 0.5, 1], 9), "betas do not rise"),
    "NaN betas": (lambda: rl.ais(PATH, [0, np.nan, 1], 9), "betas holds 1 NaN value"),
    "number as betas": (lambda: rl.ais(PATH, 1000, 9), "betas has shape ()"),
    "word as betas": (lambda: rl.ais(PATH, "linear", 9), "betas is not an array of numbers"),
    "ragged betas": (lambda: rl.ais(PATH, RAGGED, 9), "betas is not an array of numbers"),
    "2-d betas": (lambda: rl.reverse_ais(PATH, [[0, 1]], 9), "betas has shape (1, 2)"),
    "one beta": (lambda: rl.ais(PATH, [0.0], 9), "betas has shape (1,)"),
    "negative seed": (lambda: rl.ais(PATH, BETAS, 9, -1), "rng is -1"),
    "word as seed": (lambda: rl.reverse_ais(PATH, BETAS, 9, "one"), "rng is 'one'"),
    "seed of samples": (lambda: rl.exact_samples(RBM, 3, -1), "rng is -1"),
    "model as path": (lambda: rl.ais(RBM, BETAS, 9), "path is a BernoulliRBM"),
    "no path": (lambda: rl.reverse_ais(None, BETAS, 9), "path is a NoneType"),
    "path as model": (lambda: rl.exact(PATH), "rbm is a GeometricPath"),
    "name as model": (lambda: rl.exact("h10"), "rbm is a str"),
    "name for samples": (lambda: rl.exact_samples("h10", 3), "rbm is a str"),
    "too large": (lambda: rl.exact(LARGE), "rbm has 31 visible and 31 hidden"),
    "looks": (lambda: rl.ais(PATH, BETAS, 9, n_recorded=1), "n_recorded is 1"),
    "expectations": (lambda: rl.ais(PATH, BETAS, 9, expectations=[np.sum]), "expectations is a"),
    "start": (lambda: rl.reverse_ais(PATH, BETAS, 9, start="exactly"), "start is 'exactly'"),
    "few starts": (lambda: rl.reverse_ais(PATH, BETAS, 9, start=DATA[:8]), "start holds 8"),
    "narrow start": (
        lambda: rl.reverse_ais(PATH, BETAS, 9, start=np.zeros((9, 3))),
        "start has shape (9, 3)",
    ),
    "grey start": (
        lambda: rl.reverse_ais(PATH, BETAS, 9, start=np.full((9, 4), 0.5)),
        "start holds values",
    ),
    "burn-in": (
        lambda: rl.reverse_ais(PATH, BETAS, 9, start="chains", n_burn_in=-1),
        "n_burn_in is -1",
    ),
    "few chains for groups": (
        lambda: rl.sams(PATH, BETAS, 4, n_groups=10),
        "n_chains is 4: expected a multiple of n_groups, 10, such as 10, or another n_groups",
    ),
    "unequal groups": (
        lambda: rl.wang_landau(PATH, BETAS, 25),
        "n_chains is 25: expected a multiple of n_groups, 10, such as 30, or another n_groups",
    ),
    "one group": (lambda: rl.sams(PATH, BETAS, 4, n_groups=1), "n_groups is 1"),
    "steps": (lambda: rl.schedules.linear(0), "n_temperatures is 0"),
    "half steps": (lambda: rl.schedules.sm08(1.5), "n_temperatures is 1.5"),
    "unknown model": (lambda: rl.load_rbm("h11"), "name_or_path is 'h11'"),
}

BASES = {
    "name as model": (lambda: GeometricPath("h10"), "rbm is a str"),
    "unknown word": (lambda: GeometricPath(RBM, base="base_rate"), "base is 'base_rate'"),
    "short": (lambda: GeometricPath(RBM, base=np.zeros(3)), "base has shape (3,)"),
    "data": (lambda: GeometricPath(RBM, base=DATA), "base has shape (120, 4)"),
    "number": (lambda: GeometricPath(RBM, base=0.0), "base has shape ()"),
    "NaN": (lambda: GeometricPath(RBM, base=[np.nan] * 4), "base holds 4 NaN"),
    "words": (lambda: GeometricPath(RBM, base=["a"] * 4), "base is not an array"),
    "bytes": (lambda: rl.base_rate(DATA * 255), "data runs from 0 to 255"),
    "spins": (lambda: rl.base_rate(2 * DATA - 1), "data runs from -1 to 1"),
    "one row": (lambda: rl.base_rate(DATA[0]), "data has shape (4,)"),
    "3-d": (lambda: rl.base_rate(DATA[None]), "data has shape (1, 120, 4)"),
    "no rows": (lambda: rl.base_rate(DATA[:0]), "data has shape (0, 4)"),
    "NaN data": (lambda: rl.base_rate(DATA * np.nan), "data holds 480 NaN values"),
    "name of data": (lambda: rl.base_rate("mnist"), "data is not an array"),
    "no smoothing": (lambda: rl.base_rate(DATA, smoothing=0), "smoothing is 0"),
    "smoothing": (lambda: rl.base_rate(DATA, smoothing="some"), "smoothing is 'some'"),
    "infinite smoothing": (lambda: rl.base_rate(DATA, smoothing=np.inf), "smoothing is inf"),
    "hours of smoothing": (
        lambda: rl.base_rate(DATA, smoothing=np.timedelta64(1, "h")),
        "smoothing is np.timedelta64(1,'h')",
    ),
}


@pytest.mark.parametrize(**named(run=RUNS, base=BASES))
def test_wrong_argument_is_named(call, name):
    assert_refused(call, name)


COUNTS = [0, -1, True, 1.5, "ten", None, np.nan, np.inf, [3], np.bool_(True), 1j,
          np.timedelta64(5, "s")]  # fmt: skip


@pytest.mark.parametrize("value", COUNTS, ids=repr)
@pytest.mark.parametrize("function", [rl.ais, rl.reverse_ais])
def test_numbers_of_chains_are_counts(function, value):
    assert_refused(lambda: function(PATH, BETAS, n_chains=value), f"n_chains is {value!r}")


@pytest.mark.parametrize("value", [0, -1, 1.5, "two", True], ids=repr)
def test_numbers_of_threads_are_counts_or_none(value):
    name = f"n_threads is {value!r}"
    assert_refused(lambda: rl.ais(PATH, BETAS, 9, n_threads=value), name)
    assert_refused(lambda: rl.reverse_ais(PATH, BETAS, 9, n_threads=value), name)
    assert_refused(lambda: rl.exact(RBM, n_threads=value), name)
    assert_refused(train(DATA, 3, n_threads=value), name)


@pytest.mark.parametrize("value", ["0", "two", "-1", "1.5"])
def test_number_of_threads_of_the_environment(value, monkeypatch):
    monkeypatch.setenv("RBMLIB_NUM_THREADS", value)
    assert_refused(lambda: rl.ais(PATH, BETAS, 9), "RBMLIB_NUM_THREADS is")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda v: v * np.nan, "returned 280 NaN or infinite values: expected finite"),
        (lambda v: v[:3], r"returned shape \(3, 7\): expected \(40,\) or \(40, m\)"),
        (3, "is 3: expected a function"),
    ],
)
def test_what_an_expectation_must_not_return_is_refused_by_name(function, words):
    with pytest.raises((ValueError, TypeError), match=rf"expectations\['rate'\] {words}"):
        rl.ais(
            rl.GeometricPath(SMALL), rl.schedules.linear(5), 40, 0, expectations={"rate": function}
        )
