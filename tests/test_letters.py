"""DNA as bits and as letters: rows, conditioned models and the mass of what is no letter."""

import itertools

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.letters import given_letters, log_mass, rows_of_letters
from rbmlib.models.testsystems import random_rbm


def test_rows_of_letters():
    bits = np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 1]])
    assert rows_of_letters(bits).tolist() == [[1, 0, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0, 1, 0]]


def test_the_rows_of_dna_are_letters():
    dna = rl.datasets.load_dna()
    assert rows_of_letters(dna.test).shape == (1186, 240)


def test_a_model_of_bits_given_that_they_are_letters():
    """By the sum over all 4,096 states of 12 bits, of which 256 are letters."""
    rbm = random_rbm(12, 5, coupling=3.0, rng=0)
    states = np.array(list(itertools.product((0, 1), repeat=12)))
    weight = np.exp(rbm.log_density(states.astype(float)))
    letters = (states.reshape(-1, 4, 3).sum(axis=2) <= 1).all(axis=1)
    assert letters.sum() == 256
    mass = weight[letters].sum() / weight.sum()
    assert log_mass(rbm) == pytest.approx(np.log(mass))
    model = given_letters(rbm)
    log_p = rl.log_likelihood(model, rows_of_letters(states[letters]), rl.exact(model))
    np.testing.assert_allclose(np.exp(log_p), weight[letters] / weight[letters].sum())
