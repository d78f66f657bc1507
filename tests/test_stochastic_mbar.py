"""MBAR by stochastic approximation: the chapter's."""

import numpy as np
import pytest
from helpers_models import SMALL
from helpers_stats import all_states, joint_table, log_sum

import rbmlib as rl
from rbmbook.stochastic_mbar import stochastic_mbar

PATH = rl.GeometricPath(SMALL)
BETAS = rl.schedules.linear(4)


def exact_slopes(rng, betas, counts):
    """Delta of exact draws of (v, h) at each beta, one array a beta, and the exact log Z."""
    v, h = (all_states(n) for n in SMALL.weights.shape)
    base = PATH.models[0].visible_bias
    delta = joint_table(SMALL.weights, SMALL.visible_bias - base, SMALL.hidden_bias).ravel()
    start = np.repeat(v @ base, len(h))
    log_z = np.array([log_sum(start + b * delta) for b in betas])
    draws = [
        rng.choice(delta, size=n, p=np.exp(start + b * delta - z))
        for b, z, n in zip(betas, log_z, counts, strict=True)
    ]
    return draws, log_z


def test_stochastic_approximation_settles_at_mbar():
    rng, counts = np.random.default_rng(5), np.array([400, 300, 500, 400, 400])
    draws, _ = exact_slopes(rng, BETAS, counts)
    delta = np.concatenate(draws)
    wanted = rl.solve_mbar(delta, counts, BETAS)
    found = stochastic_mbar(delta, counts, BETAS, n_epochs=60, rng=0)
    assert np.abs(found.log_z - wanted.log_z).max() < 0.5 * wanted.std_error[-1]
    assert found.history.shape == (60, 5)
    np.testing.assert_array_equal(found.history[-1], found.log_z)
    assert (found.history[0] != found.history[-1])[1:].all()
    assert not found.history[:, 0].any()
    assert found.n_updates == 60 * 20
    there = stochastic_mbar(
        delta, counts, BETAS, start=wanted.log_z, batch_size=delta.size, n_epochs=1, rng=0
    )
    np.testing.assert_allclose(there.log_z, wanted.log_z, atol=1e-9)
    with pytest.raises(ValueError, match="counts hold 0"):
        stochastic_mbar(draws[0], [400, 0, 0, 0, 0], BETAS)


def test_an_epoch_of_stochastic_approximation_by_hand():
    """Batches one after the other, each state once, steps 1 / t."""
    rng, counts = np.random.default_rng(6), np.array([8, 6, 10, 8, 8])
    delta = np.concatenate(exact_slopes(rng, BETAS, counts)[0])
    order, share, log_z = np.random.default_rng(0).permutation(40), counts / 40, np.zeros(5)
    for update, rows in enumerate(order.reshape(4, 10), 1):
        p = share * np.exp(delta[rows][:, None] * BETAS - log_z)
        c = (p / p.sum(axis=1)[:, None]).mean(axis=0)
        log_z = log_z + (c / share - c[0] / share[0]) / update
    found = stochastic_mbar(delta, counts, BETAS, batch_size=10, n_epochs=1, rng=0)
    np.testing.assert_allclose(found.log_z, log_z, atol=1e-10)
