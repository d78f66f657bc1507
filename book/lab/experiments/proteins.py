"""The estimator of a task that trains RBMs of DNA on bits and on letters."""

from __future__ import annotations

import numpy as np

import rbmlib as rl
from rbmbook.letters import LETTERS, given_letters, log_mass, rows_of_letters
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register

MODELS["of DNA"] = lambda: None  # trained by the task


@register(ESTIMATORS, "bits and letters")
def _bits_and_letters(
    seed, *, n_hidden: int = 16, n_updates: int = 3000, learning_rate: float = 0.05,
):  # fmt: skip
    """Held-out log-likelihoods, exact: of bits, of bits given that they are letters, of letters.

    One model is trained on bits, another on letters by the same settings. All are means over the
    test rows of DNA, in nats; ``gain_error`` is the standard error over rows of the difference
    between the last two.
    """
    dna = rl.datasets.load_dna()
    rates = np.linspace(learning_rate, learning_rate / 10, n_updates)
    options = {"n_updates": n_updates, "learning_rate": rates, "rng": seed}
    options |= {"monitor_every": n_updates}
    bits = rl.train(dna.train, n_hidden, **options).rbm

    rows, held_out = rows_of_letters(dna.train), rows_of_letters(dna.test)
    base = rl.base_rate(rows, 1e-3, rl.Potts(np.zeros(rows.shape[1]), LETTERS))
    weights = np.random.default_rng([seed, 2]).normal(scale=0.01, size=(len(base), n_hidden))
    start = rl.RBM(rl.Potts(base, LETTERS), rl.Binary(np.zeros(n_hidden)), weights)
    letters = rl.train(rows, n_hidden, start=start, **options).rbm

    run, mass = rl.exact(letters), log_mass(bits)
    of_bits = rl.log_likelihood(bits, dna.test, rl.exact(bits))
    of_letters = rl.log_likelihood(letters, held_out, run)
    gain = of_letters - (of_bits - mass)
    return run, {
        "bits": of_bits.mean(),
        "log_mass": mass,
        "bits_given_letters": rl.log_likelihood(
            given_letters(bits), held_out, rl.exact(given_letters(bits))
        ).mean(),
        "letters": of_letters.mean(),
        "gain": gain.mean(),
        "gain_error": gain.std(ddof=1) / np.sqrt(len(gain)),
    }
