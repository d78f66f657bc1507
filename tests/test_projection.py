"""The projection is the nearest point of the set."""

import numpy as np
import pytest

import rbmlib as rl

RNG = np.random.default_rng(0)


def clipped(w, bound):
    left, scales, right = np.linalg.svd(w, full_matrices=False)
    return left * np.minimum(scales, bound) @ right


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (6, 1)])
@pytest.mark.parametrize("bound", [0.9999, 0.5])
def test_projection_clips_singular_values(shape, bound):
    w = RNG.normal(size=shape)
    found = rl.project_weights(w, bound)
    np.testing.assert_allclose(found, clipped(w, bound), atol=1e-12)
    assert np.linalg.norm(found, 2) <= bound * (1 + 1e-12)
    np.testing.assert_allclose(rl.project_weights(found, bound), found, atol=1e-12)


def test_nothing_to_clip_changes_nothing():
    w = RNG.normal(size=(6, 3))
    w *= 0.999 / np.linalg.norm(w, 2)
    np.testing.assert_array_equal(rl.project_weights(w), w)


def test_projection_is_the_nearest_point():
    """Of a convex set: <W - P, X - P> <= 0 for every X in it, and only for the nearest P."""
    w = RNG.normal(size=(6, 4))
    nearest = rl.project_weights(w, 0.9)
    for _ in range(500):
        x = rl.project_weights(RNG.normal(size=w.shape) * 10 ** RNG.uniform(-2, 1), 0.9)
        assert ((w - nearest) * (x - nearest)).sum() <= 1e-12
        assert np.linalg.norm(w - x) >= np.linalg.norm(w - nearest)
    scaled = w * 0.9 / np.linalg.norm(w, 2)  # proper too, but farther
    assert np.linalg.norm(w - scaled) > 1.05 * np.linalg.norm(w - nearest)


def test_the_papers_starting_weights_are_far_outside():
    """U(0, 0.01) at 3072 x 500: mean 0.005, so about 0.005 sqrt(3072 * 500) = 6.2."""
    w = np.random.default_rng(0).uniform(0, 0.01, (3072, 500))
    assert np.linalg.eigvalsh(w.T @ w)[-1] ** 0.5 == pytest.approx(6.2, abs=0.05)


def test_a_projected_matrix_makes_a_model():
    w = RNG.normal(size=(6, 4))
    with pytest.raises(ValueError, match="project the weights"):
        rl.LeakyRBM(w)
    rl.LeakyRBM(rl.project_weights(w))


@pytest.mark.parametrize("largest", [0.0, 1.0, 1.5, -0.5, np.nan, "1"])
def test_wrong_bounds(largest):
    with pytest.raises(ValueError, match=r"largest is .*: expected a singular value above 0 and"):
        rl.project_weights(np.eye(2), largest)
