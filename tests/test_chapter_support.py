"""What chapters lean on: parameters, verdicts, warnings as text."""

import math
import socket
import time

import numpy as np
import pytest

import rbmlib as rl
from rbmbook import datasheet, load_reference, tables
from rbmbook.live import checked_parameters, refused_parameter
from rbmbook.measured import bootstrap_log_weights
from rbmlib import checks


def namespace(**values):
    kinds = {"model": str, "n_chains": int, "rate": float, "steps": list[int], "seed": int}
    defaults = {"model": "a", "n_chains": 10, "rate": 0.5, "steps": [1, 2], "seed": 0}
    return {"__annotations__": kinds, "In": [], "_": 1} | defaults | values


def test_good_parameters_pass_and_are_converted():
    given = namespace(n_chains=1000.0, rate=1, steps=[1.0, 5])
    checked_parameters(given)
    assert given["n_chains"] == 1000
    assert isinstance(given["n_chains"], int)
    assert given["steps"] == [1, 5]


def test_chains_that_no_memory_holds_are_refused_in_the_first_cell(monkeypatch):
    monkeypatch.setattr(checks, "memory_of_machine", lambda: 16e9)
    checked_parameters(namespace(n_chains=100_000))
    with pytest.raises(ValueError, match=r"n_chains is 1,000,000,000: expected at most 194,\d+"):
        checked_parameters(namespace(n_chains=1e9))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rate": float("nan")}, ["rate"]),
        ({"n_chains": "ten"}, ["n_chains", "'ten'", "whole number"]),
        ({"n_chains": 0}, ["n_chains", "1 or more"]),
        ({"seed": -1}, ["seed", "0 or more"]),
        ({"model": 3}, ["model", "word"]),
        ({"steps": "[1,2]"}, ["steps", "list"]),
        ({"steps": [1, "x"]}, ["steps", "'x'"]),
        ({"n_chain": 5}, ["n_chain", "did you mean n_chains"]),
    ],
)
def test_wrong_parameters_are_refused_by_name(wrong, words):
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the words are checked below)
        checked_parameters(namespace(**wrong))
    assert all(word in str(error.value) for word in words)


def test_errors_inside_name_the_parameter():
    with pytest.raises(ValueError, match="model is 'x': no such"), refused_parameter("model", "x"):
        raise FileNotFoundError("no such file")


@pytest.mark.statistical
def test_bootstrap_intervals_cover():
    rng, sd, n, repeats = np.random.default_rng(1), 0.5, 1000, 300
    truth = {"variance": sd**2, "ess": n * np.exp(-(sd**2))}
    covered = dict.fromkeys(truth, 0)
    for i in range(repeats):
        found = bootstrap_log_weights(-800 + sd * rng.normal(size=n), n_resamples=200, rng=i)
        for name, value in truth.items():
            covered[name] += found[name][0] < value < found[name][1]
    margin = 4 * np.sqrt(0.95 * 0.05 / repeats)
    assert all(abs(share / repeats - 0.95) < margin for share in covered.values()), covered


def test_bootstrap_with_one_dominant_weight_and_with_too_few():
    found = bootstrap_log_weights(np.array([0.0, -800.0, -900.0]), n_resamples=50)
    assert np.isfinite(list(found.values())).all()
    with pytest.raises(ValueError, match="2 or more finite numbers"):
        bootstrap_log_weights(np.array([1.0]))


def test_datasheet_has_every_registered_model_in_the_order_of_size():
    sheet = datasheet()
    assert set(sheet["model"]) == set(load_reference())
    assert sheet["hidden"].is_monotonic_increasing
    published = sheet["model"].isin(list(rl.datasets.register.PUBLISHED_RBMS))
    assert (sheet["updates"].isna() == published).all()
    assert sheet.set_index("model").loc["cd25_20", "trained by"] == "CD-25"
    exact = {name for name, known in load_reference().items() if known.exact}
    assert set(sheet["model"][sheet["known by"] == "enumeration"]) == exact


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (460.38149, 0.018234, "460.3815 ± 0.0182"),
        (0.0, 0.0999999, "0.000 ± 0.100"),
        (1234567.0, 1500.0, "1,234,567 ± 1,500"),
        (math.nan, 0.1, "– ± 0.100"),
        (12.3456, math.nan, "12.3"),
    ],
)
def test_values_have_the_digits_of_their_errors(value, error, text):
    assert tables.with_error(value, error) == text


def test_scheduler_is_tried_at_once():
    """In the first cell: the chapter would ask for it after minutes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        given = namespace(scheduler=f"tcp://127.0.0.1:{server.getsockname()[1]}")
        given["__annotations__"]["scheduler"] = str
        checked_parameters(given)
    started = time.monotonic()
    with pytest.raises(RuntimeError, match="no Dask scheduler answers there"):
        checked_parameters(given)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("ess", [100.0, 180.0])
def test_the_interval_of_a_published_ess_holds_19_of_20_runs(ess):
    w = np.exp(np.sqrt(np.log(200 / ess)) * np.random.default_rng(1).normal(size=(4000, 200)))
    w /= w.mean(axis=1, keepdims=True)
    found = 200 / (1 + w.var(axis=1, ddof=1))
    found *= ess / np.median(found)
    low, high = tables.ess_interval(ess, 200)
    assert 0.935 < np.mean((low < found) & (found < high)) < 0.965
