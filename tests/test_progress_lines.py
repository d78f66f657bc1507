"""What a long run says of itself where there is no terminal."""

import io
import re
import sys
import time

import numpy as np
import pytest

import rbmlib as rl
from rbmlib import _progress

PATH = rl.GeometricPath(rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0), "mean_field")
BETAS = rl.schedules.linear(5)
BITS = np.random.default_rng(0).integers(0, 2, (100, 12))
RUNS = {
    "ais": lambda **p: rl.ais(PATH, BETAS, 4, rng=0, **p),
    "reverse ais": lambda **p: rl.reverse_ais(PATH, BETAS, 4, rng=0, **p),
    "bar": lambda **p: rl.bar(PATH, BETAS, 4, rng=0, **p),
    "rts": lambda **p: rl.rts(PATH, BETAS, 4, 40, rng=0, **p),
    "ti": lambda **p: rl.ti(PATH, BETAS, 4, 40, rng=0, **p),
    "mbar": lambda **p: rl.mbar(PATH, BETAS, 4, 40, rng=0, **p),
    "sams": lambda **p: rl.sams(PATH, BETAS, 40, 40, 0, **p),
    "wang_landau": lambda **p: rl.wang_landau(PATH, BETAS, 40, 40, 0, **p),
    "tap": lambda **p: rl.tap(PATH.rbm, n_starts=2, **p),
    "exact": lambda **p: rl.exact(PATH.rbm, **p),
    "log_z": lambda **p: rl.log_z(PATH.rbm, **p),
    "parallel tempering": lambda **p: rl.parallel_tempering(PATH, BETAS, 4, 40, rng=0, **p),
    "bernoulli": lambda **p: rl.train(BITS, 2, n_updates=4, rng=0, **p),
}


@pytest.fixture
def heard(monkeypatch, capsys):
    """What is said, where everything is said at once."""
    monkeypatch.setattr(_progress, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(_progress, "_watch", lambda lines: lines.say(time.monotonic()))
    return lambda: capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUNS)
def test_every_estimator_is_heard_of_unless_told_to_be_silent(heard, name):
    RUNS[name](progress=False)
    assert heard() == ""
    RUNS[name]()
    assert re.search(r"^[\w ,-]+: running for \d+ s$", heard(), re.M), name


def test_mean_field_base_is_heard_of(heard):
    rl.GeometricPath(PATH.rbm)
    assert heard().startswith("mean-field base: running")


def test_lines_are_apart_and_tell_share_and_time_left(monkeypatch):
    log, clock = io.StringIO(), [100.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])
    lines = _progress.Lines(200, "ais", "step", log)
    for _ in range(80):
        clock[0] += 0.25
        lines.update(2)
        lines.say(clock[0])
    assert log.getvalue().splitlines() == [
        "ais: 8% done, 23 s left", "ais: 28% done, 18 s left", "ais: 48% done, 13 s left",
        "ais: 68% done, 8 s left",
    ]  # fmt: skip
    tasks = _progress.Lines(40, "mine", "task", log)
    tasks.update(10)
    tasks.set_postfix(failed=3, refresh=False)
    assert tasks.line(600.0) == "mine: 10 of 40 tasks done, 30.0 minutes left, 3 failed"
    tasks.n = 0
    assert tasks.line(30.0) == "mine: 0 of 40 tasks done after 30 s, 3 failed"


def test_parts_of_a_run_share_its_lines(monkeypatch):
    """Many short parts of a long run are heard of; a short run of its own is not."""
    log, clock = io.StringIO(), [0.0]
    monkeypatch.setattr(sys, "stderr", log)
    monkeypatch.setattr(_progress, "_watch", lambda lines: None)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])

    def part():
        with _progress.progress_bar(2, "part") as bar:
            clock[0] += 0.5
            bar.update()
            bar.say(clock[0])

    for _ in range(10):
        part()
    assert log.getvalue() == ""

    @_progress.one_run
    def whole(progress=None):
        for _ in range(10):
            part()

    whole(progress=False)
    assert log.getvalue() == ""
    whole()
    assert log.getvalue() == "whole, part: 50% done, 0 s left\n"


@pytest.mark.parametrize("stream", [None, "closed"])
def test_a_run_outlives_its_log(monkeypatch, stream):
    log = io.StringIO()
    log.close()
    monkeypatch.setattr(sys, "stderr", log if stream else None)
    monkeypatch.setattr(_progress, "_place", lambda: "log" if stream else "nowhere")
    with _progress.progress_bar(2, "part") as bar:
        bar.update()
        if stream:
            bar.say(bar.due)


def test_a_notebook_is_left_alone(monkeypatch):
    """Its stderr would become an output of the chapter."""
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    with _progress.progress_bar(2, "part") as bar:
        assert bar.stream is None


def test_a_long_run_is_heard_of_and_a_short_one_is_not(monkeypatch, capfd):
    monkeypatch.setattr(_progress, "QUIET_SECONDS", 0.3)
    with _progress.progress_bar(10, "long") as bar:
        bar.update(5)
        time.sleep(1.0)
    with _progress.progress_bar(10, "short"):
        pass
    said = capfd.readouterr().err
    assert re.fullmatch(r"long: 50% done, \d s left\n", said), said
