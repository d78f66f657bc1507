"""Tasks of the lesson on Rao-Blackwellized tempered sampling."""

from __future__ import annotations

import numpy as np

from . import line
from .checker import choice, near, numbers, require, same, task
from .own import Own


def walk(own: Own):
    """Temperature indices and slopes of 200 chains, 60 sweeps each, and the right guesses.

    ``k`` and ``delta`` have the shape (sweeps, chains).
    """
    from rbmlib.sampling import simulated_tempering

    guess = own.log_z_at(line.LADDER)
    sample = simulated_tempering(own.path, line.LADDER, guess, 200, 60, own.rng("walk"))
    return sample.temperature.astype(int), sample.delta, guess


def rounds(own: Own) -> dict:
    """How somebody begins: chains, sweeps a round, and how much log Z there is to climb."""
    return {
        "n_chains": int(own.number("chains", 20, 200, 0)),
        "n_sweeps": int(own.number("sweeps", 20, 80, 0)),
        "nats": own.number("nats", 300, 600, 0),
    }


GIVEN = {"walk": walk, "rounds": rounds}


@task("derivation", 2)
def with_prior(answer, own: Own):
    """A larger prior means more visits, which say nothing about Z."""
    rng = own.rng("prior")
    shares, prior = rng.dirichlet(3 * np.ones(5), size=2)
    guess, log_z_0 = rng.normal(size=5), 7.0
    bare = guess + np.log(shares)
    right = bare - np.log(prior)
    mistakes = {
        "divide by the share that was asked for: take log r away":
            bare + np.log(prior) - bare[0] - np.log(prior[0]) + log_z_0,
        "the prior is not used": bare - bare[0] + log_z_0,
        "log Z at β = 0 is known: shift all to it": right,
        "shift to log Z_0, not to 0": right - right[0],
        "the first entry must be log_z_0: guess, share and prior of β = 0 are still in it":
            right + log_z_0,
        "the first entry must be log_z_0: the guess of β = 0 is still in it":
            right - right[0] + guess[0] + log_z_0,
        "these are the Z: their logarithms are wanted": np.exp(right - right[0] + log_z_0),
    }  # fmt: skip
    same(answer(shares, guess, prior, log_z_0), right - right[0] + log_z_0, mistakes)


for _judge in (line.beta_probabilities, line.corrected):
    task("coding", 3, lesson="rts")(_judge)


@task("experiment", 3)
def gain(answer, own: Own):
    """The noise of the draw is gone, and the noise of the walk is left."""
    k, delta, guess = walk(own)
    q = line.right_law(delta, line.LADDER, guess)
    averaged = q.mean(axis=0)[:, -1].var()
    counted = (k == line.LADDER.size - 1).mean(axis=0).var()
    near(answer, averaged / counted, 0.02 * averaged / counted + 0.005, {
        "averaged over counted, not the other way round": counted / averaged,
        "variances, not standard deviations": float(np.sqrt(averaged / counted)),
        "first the mean over the sweeps of each chain, then the variance over chains":
            q[..., -1].var() / (k == line.LADDER.size - 1).var(),
        "a column is a chain: the mean is over the rows, the sweeps":
            q.mean(axis=1)[:, -1].var() / (k == line.LADDER.size - 1).mean(axis=1).var(),
        "q(k | x) needs the guesses":
            line.right_law(delta, line.LADDER, 0 * guess).mean(axis=0)[:, -1].var()
            / counted,
    })  # fmt: skip


@task("trap", 0)
def equal_guesses(answer, own: Own):
    """The chains put at the bottom are counted there, which bounds what a round can say."""
    r = rounds(own)
    per_round = np.log(r["n_chains"] * r["n_sweeps"])
    right = int(np.ceil(r["nats"] / per_round))
    found = float(numbers(answer, ()))
    require(found != int(np.ceil(r["nats"] / np.log(r["n_sweeps"]))),
            "all chains together are counted: their states are chains times sweeps")  # fmt: skip
    require(found != int(np.ceil(r["nats"] / np.log(r["n_chains"]))),
            "every sweep counts: the states are chains times sweeps")  # fmt: skip
    require(found == right or abs(found - r["nats"] / per_round) >= 1,
            "round up: the last round counts")  # fmt: skip
    require(found == right, f"{found:g} is not it: how much can log(c_K / c_0) be at most?")


@task("trap", 2)
def equal_shares(answer, own: Own):
    """Chains that all miss a mode agree with each other, and with guesses that miss it."""
    choice(answer, "d", {
        "a": "chains that all miss a mode visit every β equally often as well",
        "b": "they add up to 1 always",
        "c": "the largest share says the same as all of them together",
    })  # fmt: skip


@task("reading", 1)
def lower_row(answer, own: Own):
    """A temperature is visited in proportion to Z over its guess, and there Z is largest by far."""
    choice(answer, "a", {
        "b": "with the right guesses (upper row) the same chains come down again",
        "c": "too large a guess keeps chains away; these crowd at the top",
        "d": "Gibbs sampling is the same in both rows",
    })  # fmt: skip
