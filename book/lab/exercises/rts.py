"""Tasks of the lesson on Rao-Blackwellized tempered sampling."""

import numpy as np

from . import line
from .checker import Own, function, letter, number


def walk(own: Own):
    """Temperature indices and slopes (60 sweeps, 200 chains), and the right guesses."""
    guess = own.log_z_at(line.BETAS)
    given = own.model, own.base, line.BETAS, guess, 200, 60, own.rng("walk")
    return *line.tempered(*given), guess


GIVEN = {
    "walk": walk,
    "rounds": lambda own: {
        "n_chains": own.whole("chains", 20, 200),
        "n_sweeps": own.whole("sweeps", 20, 80),
        "nats": own.whole("nats", 300, 600),
    },
}


@function("derivation", 2)
def with_prior(own: Own):
    """A larger prior leads to more visits, but these extra visits say nothing about Z."""
    rng = own.rng("prior")
    shares, prior = rng.dirichlet(3 * np.ones(5), size=2)
    guess, log_z_0 = rng.normal(size=5), 7.0
    bare, log_r = guess + np.log(shares), np.log(prior)

    def shifted(x):
        return x - x[0] + log_z_0

    yield (shares, guess, prior, log_z_0), shifted(bare - log_r), {
        "divide by the prior: subtract log r": shifted(bare + log_r),
        "the prior is not used": shifted(bare),
    }  # fmt: skip


beta_probabilities = line.beta_probabilities._replace(kind="coding", points=3)
corrected = line.corrected._replace(kind="coding", points=3)


@number("experiment", 3, share=0.02)
def gain(own: Own):
    """Averaging removes the noise of drawing k, but the noise of the moving state remains."""
    k, delta, guess = walk(own)
    last = line.distribution(delta, line.BETAS, guess)[..., -1]
    at_end = k == line.BETAS.size - 1
    counted = at_end.mean(axis=0).var()
    right = last.mean(axis=0).var() / counted
    return right, {
        "average over the sweeps of each chain first, then take the variance":
            last.var() / at_end.var(),
        "each column is a chain and each row is a sweep: average over rows":
            last.mean(axis=1).var() / at_end.mean(axis=1).var(),
    }  # fmt: skip


@number("trap", 0, within=0.01)
def equal_guesses(own: Own):
    """The rise is largest if all states of a round but one are at the last temperature."""
    chains, sweeps, nats = GIVEN["rounds"](own).values()
    exact = nats / np.log(chains * sweeps)
    right = np.ceil(exact)
    return right, {
        "all sweeps count: a round has chains × sweeps states": np.ceil(nats / np.log(chains)),
        "round up to a whole number of rounds": exact,
    }


equal_shares = letter(
    "d", "Chains that all miss a mode agree with each other, and with guesses that miss it.",
    kind="trap", points=2,
    a="chains that all miss a mode can also visit every β equally often",
    b="shares always add up to 1",
    c="the largest share says no more than all the shares together",
)  # fmt: skip

lower_row = letter(
    "a", "Visits are in proportion to Z divided by its guess, and this ratio is largest at β = 1.",
    b="with the right guesses (upper row) the same chains come down again",
    c="a guess that is too large keeps chains away, but these chains gather at β = 1",
    d="the moves of x are the same in both rows",
)  # fmt: skip
