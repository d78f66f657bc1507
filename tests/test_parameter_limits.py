"""Parameters that log-densities or kernels cannot hold are refused, and no loop hangs."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import rbmlib as rl
from rbmlib._kernels import layers

FINE = {"weights": np.eye(3, 2), "visible_bias": np.zeros(3), "hidden_bias": np.zeros(2)}


@pytest.mark.parametrize("value", [1e13, 1e39, 1e300, -1.7e308])
@pytest.mark.parametrize("name", [*FINE, "log_scale"])
def test_models_refuse_parameters_beyond_what_kernels_hold(name, value):
    given = FINE | {name: value if name == "log_scale" else FINE[name] + value}
    with pytest.raises(ValueError, match=f"{name} reaches .* expected 1e"):
        rl.BernoulliRBM(**given)


def test_the_fixed_point_scale_is_always_found():
    """In a child process, which can be stopped."""
    code = (
        "import numpy as np; from rbmlib._kernels.layers import quantise\n"
        "for x in 1e39, np.inf, np.nan, 1e-320, 5e-324:\n"
        "    try: quantise(np.full((3, 2), x), np.full(3, x)); print('found')\n"
        "    except ValueError: print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["refused"] * 3 + ["found"] * 2


def test_scale_of_the_largest_weights_is_finite_in_single_precision():
    fixed = layers.quantise(np.full((3, 2), 1e12), np.full(3, -1e12))
    assert np.isfinite(np.float32(fixed.scale))
    np.testing.assert_allclose(fixed.down * fixed.scale, 1e12, rtol=1e-4)


@pytest.mark.parametrize("outlier", [5e9, -5e9, 1e12])
def test_memory_of_mbar_does_not_grow_with_the_spread_of_slopes(outlier):
    rng = np.random.default_rng(0)
    delta = rng.normal([[0.0], [1.0]], size=(2, 5000)).ravel()
    delta[0] = outlier
    tracemalloc.start()
    try:
        found = rl.solve_mbar(delta, counts=[5000, 5000], betas=[0, 1])
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    # the equation at the root, sample by sample
    w = 1 / (1 + np.exp(np.clip(found.log_z[1] - delta, -700, 700)))
    assert abs(w.sum() - 5000) < 1e-3
