"""Letters of DNA as bits and as letters: the same rows, and models of both.

Three bits are a letter: 100, 010, 001, and 000 for the last one, so that four of eight triples are
no letters. A Bernoulli RBM of such bits, given that each triple is a letter, is an RBM of
`Potts` with the same weights, and weights of zero for the last letter.
"""

from __future__ import annotations

import numpy as np

import rbmlib as rl

BITS, LETTERS = 3, 4


def rows_of_letters(bits) -> np.ndarray:
    """Rows of three bits a site as rows of four, of which one is 1."""
    sites = np.asarray(bits).reshape(len(bits), -1, BITS)
    none = 1 - sites.sum(axis=2, keepdims=True)
    return np.concatenate([sites, none], axis=2).reshape(len(bits), -1).astype(np.uint8)


def given_letters(rbm: rl.RBM) -> rl.RBM:
    """A Bernoulli RBM of three bits a site, given that each site is a letter: the same scores."""

    def with_last(array):  # of which nothing is added to the score
        sites = array.reshape(-1, BITS, *array.shape[1:])
        return np.concatenate([sites, np.zeros_like(sites[:, :1])], axis=1).reshape(
            -1, *array.shape[1:]
        )

    visible = rl.Potts(with_last(rbm.visible.bias), LETTERS)
    return rl.RBM(visible, rbm.hidden, with_last(rbm.weights))


def log_mass(rbm: rl.RBM) -> float:
    """The logarithm of the probability that all sites of a Bernoulli RBM are letters: exact."""
    z_of_letters, z = (rl.exact(model).log_z for model in (given_letters(rbm), rbm))
    return z_of_letters - z
