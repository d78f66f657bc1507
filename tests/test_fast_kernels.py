"""The compiled loops on any processor: the same bits; and when they are taken."""

import os
import shutil
import signal
import subprocess
import sys
import time
from functools import cache

import numpy as np
import pytest
from helpers_kernels import generic, stream_at

import rbmlib as rl
from rbmlib import _kernels
from rbmlib._kernels import gibbs, layers, random
from rbmlib.numerics import ChainStream
from rbmlib.sampling import anneal, sweep

f32 = np.float32


def family(n_visible, n_hidden, seed=0) -> gibbs.Family:
    rng = np.random.default_rng(seed)
    weights = rng.normal(scale=2 / n_visible**0.5, size=(n_visible, n_hidden))
    vectors = [rng.normal(size=n) for n in (n_hidden, n_hidden, n_visible, n_visible)]
    return gibbs.family(weights, *vectors)


def states(n_chains, n_visible):
    u = np.empty((n_chains, n_visible))
    random.fill_uniforms(np.uint64(1), 0, 0, u)
    return (u < 0.3).astype(f32)


def run(made, betas, n_chains=70):
    """Log-weights, visible states, and visible states and slopes of sweeps after them."""
    v, log_weights = states(n_chains, made.fixed.down.shape[1]), np.zeros(n_chains)
    gibbs.anneal(made, v, log_weights, betas, stream_at(9, 3, 0))
    annealed = v.copy()
    slopes = np.empty(n_chains)
    gibbs.sweep(made, v, np.linspace(0, 1, n_chains), slopes, 5, stream_at(9, 3, 10**6))
    return log_weights, annealed, v, slopes


DIGEST = """
import hashlib
import numpy as np
import rbmlib as rl
from test_fast_kernels import family, run
digest = hashlib.sha256()
for n_hidden in (12, 60):
    for part in run(family(90, n_hidden), np.linspace(0, 1, 41)):
        digest.update(np.ascontiguousarray(part).tobytes())
rbm = rl.testsystems.random_rbm(n_visible=90, n_hidden=40, rng=1)
estimate = rl.ais(rl.GeometricPath(rbm), np.linspace(0, 1, 41) ** 2, n_chains=40, rng=0)
digest.update(estimate.states.tobytes())
digest.update(np.round(estimate.log_weights, 9).tobytes())
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


def test_large_models_lose_bits_not_exactness():
    """20,000 visible units of equal weights: a coarser scale, sums still whole numbers."""
    weights = np.full((20_000, 2), 0.5) * np.array([1, -1])
    fixed = layers.quantise(weights, np.full(20_000, 0.25))
    every = fixed.up.astype(np.int64).sum(axis=0)
    assert np.abs(every).max() < layers.MAX_SUM
    sums = np.ones(20_000, f32) @ fixed.up
    np.testing.assert_array_equal(sums.astype(np.int64), every)
    np.testing.assert_allclose(fixed.up[:, :2] * fixed.scale, weights, rtol=1e-2)


def test_weights_too_unequal_for_integers_take_the_generic_loop():
    """One weight ten thousand times the others: no importance step of several nats."""
    rbm = rl.testsystems.random_rbm(n_visible=8, n_hidden=4, rng=0)
    weights = rbm.weights.copy()
    weights[0, 0] = 1e4
    path = rl.GeometricPath(
        rl.BernoulliRBM(weights, rbm.visible_bias, rbm.hidden_bias), base=rbm.visible_bias
    )
    betas = rl.schedules.linear(5)
    state = states(6, 8)
    streams = [ChainStream(3, 6) for _ in range(3)]
    after, log_weights = anneal(path, state, betas, streams[0])
    wanted, expected = anneal(generic(path), state, betas, streams[1])
    np.testing.assert_array_equal(after, wanted)
    np.testing.assert_array_equal(log_weights, expected)
    assert sweep(path, state, 0.5, 2, streams[2]).shape == (6, 8)


def test_layers_too_large_for_lists_are_refused():
    with pytest.raises(ValueError, match=r"70000.*65,535 at most"):
        family(70_000, 1)


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
