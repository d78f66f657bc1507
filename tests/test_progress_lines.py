"""What a long run says of itself: lines in a log, nothing in a notebook, silence if told to."""

import io
import re
import sys

import numpy as np
import pytest

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
    monkeypatch.setattr(context, "EVERY_SECONDS", -1.0)
    monkeypatch.setattr(context.Lines, "update", said_at_each_step(context.Lines.update))
    return lambda: capsys.readouterr().err


def said_at_each_step(update):
    """A short run is one step of a compiled loop: its end, which is not said, is."""

    def step(self, n=1):
        self.total = 2 * max(self.total, self.n + n)
        update(self, n)

    return step


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUNS)
def test_every_estimator_is_heard_of_unless_told_to_be_silent(heard, name):
    RUNS[name](progress=False)
    with rl.using(progress=False):
        RUNS[name]()
    assert heard() == ""
    RUNS[name]()
    assert re.search(r"^[\w ,-]+: \d+% done", heard(), re.M), name


@pytest.mark.parametrize("value", ["no", 1, 0.0])
def test_progress_is_asked_for_by_true_or_false(value):
    with pytest.raises(TypeError, match=r"progress is a \w+: expected True, False, or None"):
        rl.ais(PATH, BETAS, 4, progress=value)


@pytest.fixture
def log(monkeypatch):
    """Makes a log, and a clock that stands still: ``clock[0]`` are seconds."""

    def begin():
        stream, clock = io.StringIO(), [100.0]
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(context.time, "monotonic", lambda: clock[0])
        return stream, clock

    return begin


def test_lines_are_apart_and_tell_share_and_time_left(log):
    stream, clock = log()
    with rl.using(), context.bar(200, "ais") as shown:
        for _ in range(99):
            clock[0] += 0.25
            shown.update(2)
    assert stream.getvalue().splitlines() == ["ais: 8% done, 23 s left", "ais: 48% done, 13 s left",
                                              "ais: 88% done, 3 s left"]  # fmt: skip


def test_parts_of_a_run_share_its_lines(log):
    """Many short parts of a long run are heard of; a short run of its own is not."""
    stream, clock = log()

    def part():
        with rl.using(), context.bar(2, "part") as shown:
            clock[0] += 0.5
            shown.update()

    for _ in range(10):
        part()
    assert stream.getvalue() == ""
    with rl.using():
        for _ in range(10):
            part()
    assert stream.getvalue() == "part: 50% done, 0 s left\n"


def test_a_loop_inside_another_is_a_part_of_it(log):
    stream, clock = log()
    with rl.using(), context.bar(8, "whole") as whole:
        for _ in range(3):
            with context.bar(2, "inner") as shown:
                assert shown is whole
                clock[0] += 1.0
                shown.update()
            for _ in context.steps(range(1), "steps"):
                pass
    assert stream.getvalue() == "whole: 38% done, 3 s left\n"


def test_a_run_outlives_its_log(monkeypatch):
    for stream in (None, io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with rl.using(), context.bar(2, "part") as shown:
            context._due.get()[0] = -np.inf
            if stream:
                stream.close()
            shown.update()


@pytest.mark.parametrize(("asked", "shown"), [(None, False), (False, False), (True, True)])
def test_a_notebook_is_left_alone_unless_asked(monkeypatch, asked, shown):
    """Its stderr would become an output of the chapter."""
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    with rl.using(progress=asked), context.bar(2, "part") as bar:
        assert isinstance(bar, context.Silence) is not shown


def test_a_terminal_has_a_bar_after_two_seconds(monkeypatch):
    stream = type("Terminal", (io.StringIO,), {"isatty": lambda self: True})()
    monkeypatch.setattr(sys, "stderr", stream)
    with rl.using(), context.bar(10, "short") as shown:
        shown.update(5)
    assert stream.getvalue().strip() == ""
    with rl.using(), context.bar(10, "long") as shown:
        shown.delay, shown.mininterval, shown.miniters = 0, 0, 0
        shown.update(5)
    assert "long:  50%" in stream.getvalue()


def test_digits_do_not_depend_on_threads_or_progress():
    one = rl.ais(PATH, BETAS, 40, rng=0)
    with rl.using(n_threads=2, progress=False):
        two = rl.ais(PATH, BETAS, 40, rng=0)
    np.testing.assert_array_equal(one.log_weights, two.log_weights)
    assert context.settings.get() == context.Settings()
