"""What a long run says of itself: lines in a log, nothing in a notebook, silence if told to."""

import io
import re
import sys
import threading

import pytest
from tqdm import tqdm

import rbmlib as rl
from rbmlib import context

PATH = rl.GeometricPath(rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0), "mean_field")
BETAS = rl.schedules.linear(5)
RUNS = {
    "ais": lambda **p: rl.ais(PATH, BETAS, 4, rng=0, **p),
    "reverse ais": lambda **p: rl.reverse_ais(PATH, BETAS, 4, rng=0, **p),
    "bar": lambda **p: rl.bar(PATH, BETAS, 4, rng=0, **p),
    "rts": lambda **p: rl.rts(PATH, BETAS, 4, 40, rng=0, **p),
    "ti": lambda **p: rl.ti(PATH, BETAS, 4, 40, rng=0, **p),
    "mbar": lambda **p: rl.mbar(PATH, BETAS, 4, 40, rng=0, **p),
    "sams": lambda **p: rl.sams(PATH, BETAS, 40, 40, 0, **p),
    "wang_landau": lambda **p: rl.wang_landau(PATH, BETAS, 40, 40, 0, **p),
    "parallel tempering": lambda **p: rl.parallel_tempering(PATH, BETAS, 4, 40, rng=0, **p),
    "log_z": lambda **p: rl.log_z(PATH.rbm, n_steps=20, n_chains=20, enumerate_small=False, **p),
}


@pytest.fixture
def heard(monkeypatch, capsys):
    """What is said, where everything is said at once."""
    monkeypatch.setattr(context, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(context, "EVERY_SECONDS", 0.0)
    return lambda: capsys.readouterr().err


@pytest.fixture
def clock(monkeypatch, capsys):
    """The seconds that the library sees, and what is said."""
    seconds = [100.0]
    monkeypatch.setattr(context.time, "time", lambda: seconds[0])
    monkeypatch.setattr("tqdm.std.time", lambda: seconds[0])
    return seconds, lambda: capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUNS)
def test_every_estimator_is_heard_of_unless_told_to_be_silent(heard, name):
    RUNS[name](progress=False)
    assert heard() == ""
    RUNS[name]()
    assert re.search(r"^[\w ,-]+: \d+% done", heard(), re.M), name


def test_mean_field_base_is_heard_of(heard):
    rl.GeometricPath(PATH.rbm)
    assert heard().startswith("mean-field base: ")


def test_lines_are_apart_and_tell_share_and_time_left(clock):
    seconds, said = clock
    with context.bar(200, "ais") as shown:
        for _ in range(100):
            seconds[0] += 0.25
            shown.update(2)
    assert said().splitlines() == [
        "ais: 8% done, 00:23 left", "ais: 48% done, 00:13 left", "ais: 88% done, 00:03 left",
    ]  # fmt: skip


def test_a_slow_first_step_is_no_measure_of_the_time_left(clock):
    """It may have compiled the loop: 2.9 s of 10,000 steps are not eight hours."""
    seconds, said = clock
    with context.bar(10_000, "ais") as shown:
        seconds[0] += 2.9
        for _ in range(2500):
            shown.update(1)
            seconds[0] += 0.004
    lines = said().splitlines()
    assert lines[0] == "ais: 5% done, 00:37 left"
    assert len(lines) == 1


def test_parts_of_a_run_share_its_lines(clock):
    """Many short parts of a long run are heard of; a short run of its own is not."""
    seconds, said = clock

    def part():
        with context.bar(2, "part") as shown:
            seconds[0] += 0.5
            shown.update()

    for _ in range(10):
        part()
    assert said() == ""

    @context.configured
    def whole():
        for _ in range(10):
            part()

    whole(progress=False)
    assert said() == ""
    whole()
    assert said() == "part: 50% done, 00:00 left\n"


def test_a_short_call_in_a_long_block_is_not_heard_of(clock):
    """The clock is that of the outermost call, not of the block of settings around many."""
    seconds, said = clock

    @context.configured
    def short():
        with context.bar(2, "short") as shown:
            seconds[0] += 0.5
            shown.update()

    with rl.using(n_threads=1):
        for _ in range(10):
            short()
    assert said() == ""


def test_a_part_inside_another_is_counted_there(clock):
    seconds, said = clock
    with context.bar(4, "whole") as shown:
        for _ in context.steps(range(2), "part"):
            seconds[0] += 1.5
        shown.update()
    assert said() == "whole: 50% done, 00:03 left\n"


@pytest.mark.parametrize("stream", [None, "closed"])
def test_a_run_outlives_its_log(monkeypatch, heard, stream):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log if stream else None)
    with context.bar(4, "part") as shown:
        shown.update()
        log.close()
        shown.update()


def test_a_notebook_is_left_alone(monkeypatch):
    """Its stderr would become an output of the chapter."""
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    with context.bar(2, "part") as shown:
        assert shown.disable
        shown.update()
    assert stream.getvalue() == ""


def test_a_terminal_has_a_bar_after_two_seconds_and_no_thread_for_it(monkeypatch, clock):
    stream, (seconds, _) = io.StringIO(), clock
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(tqdm, "monitor", None)  # another bar of this process may have left one
    before = threading.enumerate()
    with context.bar(10, "ais") as shown:
        seconds[0] += 1.5
        shown.update()
        assert stream.getvalue() == ""
        seconds[0] += 1
        shown.update()
        assert "\rais:  20%|" in stream.getvalue()
    assert threading.enumerate() == before
