"""Compiled cores: the same bits on any processor, threads and routes, and as the generic loop."""

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from functools import cache

import numpy as np
import pytest
from helpers_kernels import (
    MirroredStream,
    build_family,
    f32,
    generic,
    quantised_path,
    stream_at,
    uniforms,
)
from helpers_models import on_threads

import rbmlib as rl
from rbmlib import GeometricPath, _kernels
from rbmlib._kernels import elementwise, gibbs, threads
from rbmlib.numerics import ChainStream
from rbmlib.sampling import anneal, sweep
from rbmlib.sampling.compiled import compiled

WIDE = rl.testsystems.random_rbm(40, 50, coupling=3.0, rng=1)  # too many units for tables
NARROW = rl.testsystems.random_rbm(40, 12, coupling=3.0, rng=1)  # takes tables
STEPS = rl.schedules.linear(60)


def run(rbm, **options):
    """Log-weights and states; their quality does not matter here."""
    path = GeometricPath(rbm, base=np.zeros(rbm.n_visible))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        estimate = rl.ais(path, STEPS, n_chains=150, rng=4, **options)
    return estimate.log_weights, estimate.states


def assert_same_bits(one, two):
    np.testing.assert_array_equal(one[1], two[1])
    np.testing.assert_array_equal(one[0], two[0])


@pytest.mark.parametrize("rbm", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("size", [1, 7, 150])
def test_threads_chunks_blocks_of_steps_and_looks_change_nothing(rbm, size, monkeypatch):
    usual = run(rbm)
    assert_same_bits(on_threads(2, run, rbm), usual)
    chunks = threads.chunks
    seen = []
    monkeypatch.setattr(threads, "chunks", lambda n, _: seen.append(n) or chunks(n, size))
    assert_same_bits(run(rbm), usual)
    assert seen, "the kernels no longer cut chains with threads.chunks"
    monkeypatch.setattr(threads, "BLOCK_SECONDS", 0.0)  # one step a block
    for n_recorded in (2, 61):
        assert_same_bits(run(rbm, n_recorded=n_recorded), usual)


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
@pytest.mark.parametrize("rbm", [WIDE, NARROW], ids=["wide", "narrow"])
def test_what_loops_keep_on_the_way_is_what_a_stop_there_shows(rbm):
    """In chunks of chains: slopes need the states, so that the loop stops for them."""
    path = GeometricPath(rbm, base=np.zeros(rbm.n_visible))
    kept, stopped = (
        rl.ais(path, STEPS, 300, 4, n_recorded=31, slopes=slopes) for slopes in (False, True)
    )
    assert np.ptp(kept.log_z_path) > 1
    np.testing.assert_array_equal(kept.log_z_path, stopped.log_z_path)
    np.testing.assert_array_equal(kept.trace["ess"], stopped.trace["ess"])


@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 2), (16, 10), (33, 11), (47, 16), (60, 17), (32, 21), (784, 30)]
)
@pytest.mark.parametrize("rule", ["EXACT", "QUADRATURE", "SERIES"])
def test_narrow_equals_wide(shape, rule):
    """The two routes for few hidden units are the same sampler, on either side of full lanes."""
    d = {"EXACT": 3.0, "QUADRATURE": 0.5, "SERIES": 0.05}[rule]
    results = []
    for small in (None, False):
        made = build_family(*shape, spread=4 / shape[0] ** 0.5, small=small)
        assert made.small == (small is None)
        v = (uniforms(1, 0, (70, shape[0])) < 0.5).astype(f32)
        log_weights = np.zeros(70)
        betas = 1 - np.arange(31)[::-1] * d / made.largest
        rules = elementwise.increment_rules(np.diff(betas), made.largest)
        assert set(rules) == {getattr(elementwise, rule)}
        gibbs.anneal(made, v, log_weights, betas, stream_at(9, 0, 0))
        annealed = v.copy()
        betas, swept, slopes = np.linspace(0, 1, 70), v.copy(), np.empty(70)
        gibbs.sweep(made, swept, betas, np.empty(0), 5, stream_at(9, 0, 200))
        gibbs.sweep(made, v, betas, slopes, 5, stream_at(9, 0, 200))
        results.append((log_weights, annealed, v))
        np.testing.assert_array_equal(v, swept)
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    assert np.isfinite(slopes).all()
    assert log_weights.std() > 0


@pytest.mark.parametrize("shape", [(25, 9), (25, 27), (25, 40), (64, 95)], ids=str)
@pytest.mark.parametrize("rule", ["EXACT", "QUADRATURE", "SERIES"])
@pytest.mark.parametrize("falling", [False, True])
def test_fused_path_equals_the_generic_loop(shape, rule, falling):
    """The same draws give the same states, but for units within rounding of the threshold."""
    path = quantised_path(*shape, coupling=4.0)
    n_steps = {"EXACT": 6, "QUADRATURE": 100, "SERIES": 1000}[rule]
    largest = compiled(path).family.largest
    assert elementwise.increment_rules(1 / n_steps, largest) == getattr(elementwise, rule)
    betas = rl.schedules.linear(n_steps)[:40]
    if falling:
        betas = betas[::-1]
    start = (np.random.default_rng(0).random((200, shape[0])) < 0.5).astype(f32)
    before = start.copy()
    fused, fused_stream = ChainStream(8, 200), ChainStream(8, 200)
    state, log_weights = anneal(path, start, betas, fused)
    mirrored = MirroredStream(fused_stream)
    wanted, wanted_weights = anneal(generic(path), start, betas, mirrored)
    np.testing.assert_array_equal(start, before)
    assert fused.draw == fused_stream.draw == 2 * (len(betas) - 1)
    # A unit differs if u falls between two roundings of p, some 1e-7 apart; then its chain
    # goes its own way (and may come back): 0.1 chains expected of 200 x 39 sweeps x 159 units.
    same = (state == wanted).all(axis=1)
    assert (same & (np.abs(log_weights - wanted_weights) < 1e-4)).sum() >= 198
    assert wanted_weights.std() > 0.01, "the weights should have something to agree on"


@pytest.mark.parametrize("shape", [(25, 9), (25, 27), (25, 40), (64, 95)], ids=str)
def test_fused_sweep_equals_the_generic_transition(shape):
    """Also with one beta a chain."""
    path = quantised_path(*shape, coupling=4.0)
    state = start = (np.random.default_rng(0).random((200, shape[0])) < 0.5).astype(f32)
    betas = np.linspace(0, 1, 200)
    stream = MirroredStream(ChainStream(8, 200))
    for _ in range(10):
        state = path.transition(state, betas, stream)
    swept = sweep(path, start, betas, 10, ChainStream(8, 200))
    assert (swept == state).all(axis=1).sum() >= 198


def run_family(n_hidden):
    """Log-weights, visible states, and visible states and slopes of sweeps after them."""
    made = build_family(90, n_hidden, spread=2 / 90**0.5)
    v, log_weights, slopes = (
        (uniforms(1, 0, (70, 90)) < 0.3).astype(f32),
        np.zeros(70),
        np.empty(70),
    )
    gibbs.anneal(made, v, log_weights, np.linspace(0, 1, 41), stream_at(9, 3, 0))
    annealed = v.copy()
    gibbs.sweep(made, v, np.linspace(0, 1, 70), slopes, 5, stream_at(9, 3, 10**6))
    return log_weights, annealed, v, slopes


DIGEST = """
import hashlib
import numpy as np
import rbmlib as rl
from test_kernel_bits import run_family
digest = hashlib.sha256()
for n_hidden in (12, 60):
    for part in run_family(n_hidden):
        digest.update(np.ascontiguousarray(part).tobytes())
rbm = rl.testsystems.random_rbm(n_visible=90, n_hidden=40, rng=1)
estimate = rl.ais(rl.GeometricPath(rbm), np.linspace(0, 1, 41) ** 2, n_chains=40, rng=0)
digest.update(estimate.states.tobytes())
digest.update(np.round(estimate.log_weights, 9).tobytes())
rng = np.random.default_rng(0)
x = rng.normal(scale=5, size=(64, 42))
one = rl.DoubleReLU(np.zeros(42), *rng.uniform(0.3, 3, (2, 42)), *rng.normal(size=(2, 42)))
two = rl.Potts(np.zeros(42), 3)
for part in (one.draw(x, rng), one.cumulant(x), two.draw(x, rng)):
    digest.update(part.tobytes())
print(digest.hexdigest())
"""


@cache
def digest(**environment) -> str:
    here = os.path.dirname(__file__)
    path = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", DIGEST],
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize(
    "environment",
    [
        {"OPENBLAS_CORETYPE": "Haswell"},
        {"RBMLIB_NUM_THREADS": "1"},
        {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    ],
    ids=lambda e: next(iter(e)),
)
def test_other_processors_and_libraries_give_the_same_bits(environment):
    """In processes of their own, where such settings are read; `generic` has no AVX, no FMA."""
    assert digest(**environment) == digest()


def test_cache_folder_changes_with_any_kernel_file(tmp_path, monkeypatch):
    room = tmp_path / "_kernels"
    shutil.copytree(_kernels._ROOM, room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(_kernels, "_ROOM", room)
    monkeypatch.setattr(_kernels, "_OUTER_CACHE", str(tmp_path / "cache"))
    folders = [_kernels._cache_folder()]
    assert _kernels._cache_folder() == folders[0]
    for source in sorted(room.glob("*.py")):
        source.write_text(source.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
        folders.append(_kernels._cache_folder())
    assert len(set(folders)) == len(folders) > 10


LONG_RUN = """
import rbmlib as rl
path = rl.GeometricPath(rl.testsystems.random_rbm(n_visible=300, n_hidden={n_hidden}, rng=0))
rl.ais(path, rl.schedules.linear(10), n_chains=64, rng=0)
print("running", flush=True)
rl.ais(path, rl.schedules.linear(10_000_000), n_chains=1024, rng=0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
@pytest.mark.parametrize("n_hidden", [10, 100])
def test_interrupt_stops_a_long_run(n_hidden):
    """Ctrl-C: KeyboardInterrupt within seconds, from a run that would take hours."""
    run = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LONG_RUN.format(n_hidden=n_hidden)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert run.stdout.readline() == "running\n"
        time.sleep(1.5)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=120)  # seconds, where the machine has other work
    finally:
        run.kill()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert run.returncode != 0
