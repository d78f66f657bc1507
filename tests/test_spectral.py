"""The step of spectral training; whole trainings are in test_training.py."""

import numpy as np
import pytest

from rbmbook.training import rates, sharp


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (6,)])
def test_sharp_is_the_best_step_of_its_length(shape):
    """max <x, s> - |s|**2 / 2 is |x|_dual**2 / 2; the norms are Schatten (or l) infinity and 1."""
    rng = np.random.default_rng(0)
    matrix = len(shape) == 2

    def length(s):
        return np.linalg.norm(s, 2) if matrix else np.abs(s).max()

    def gain(x, s):
        return (x * s).sum() - length(s) ** 2 / 2

    x = rng.normal(size=shape)
    dual = np.linalg.norm(x, "nuc") if matrix else np.abs(x).sum()
    best = sharp(x)
    assert length(best) == pytest.approx(dual)
    assert gain(x, best) == pytest.approx(dual**2 / 2)
    for _ in range(200):
        other = best + rng.normal(size=shape) * 10.0 ** rng.uniform(-3, 1)
        assert gain(x, other) < gain(x, best)


def test_sharp_leaves_directions_without_gradient_alone():
    x = np.outer([1.0, 2.0, 2.0], [3.0, 4.0])  # rank 1, nuclear norm 3 * 5
    np.testing.assert_allclose(sharp(x), x, atol=1e-6)  # 15 times (1, 2, 2)/3 (3, 4)/5
    assert not sharp(np.zeros((3, 2))).any()


def test_rates_rise_to_those_of_the_line():
    assert rates(0.8, 0.2, 4, 0).tolist() == np.linspace(0.8, 0.2, 4).tolist()
    np.testing.assert_allclose(rates(0.8, 0.2, 4, 2), [0.4, 0.6, 0.4, 0.2])
