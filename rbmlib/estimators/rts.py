"""Rao-Blackwellised tempered sampling (Carlson, Stinson, Pakman & Paninski 2016).

Chains of simulated tempering visit beta_k with probability q_k ~ r_k Z_k / Z^_k (eq. 8). The mean of
q(k | x) over their states, c_k (eq. 9), estimates q_k, so Z^_k c_k r_0 / (c_0 r_k) estimates Z_k
(eq. 12).
"""

import numpy as np

from .. import checks
from ..results import of_chains
from ..sampling import both_ends, simulated_tempering
from . import estimator

PILOT_STEPS, BLOCKS, UNUSED = 4000, 20, 2  # the first tenth of the run is not used


@estimator
def rts(path, betas, n_chains=100, n_sweeps=2000, rng=None, *, prior=None, conditional=None):
    """Estimate log Z by simulated tempering; beta is drawn given (v, h) if the path allows, or v."""
    return rts_of_sample(tempered(path, betas, n_chains, n_sweeps, rng, prior, conditional), UNUSED)


def tempered(path, betas, n_chains, n_sweeps, rng, prior=None, conditional=None, n_blocks=BLOCKS):
    """A sample begun at both ends of the ladder, from a pilot: what RTS, TI and MBAR read."""
    betas, n_chains = checks.schedule(betas), checks.count("n_chains", n_chains, 2)
    conditional = conditional or ("joint" if path.joint else "marginal")
    if (
        checks.one_of("conditional", conditional, ("joint", "marginal")) == "joint"
        and not path.joint
    ):
        raise ValueError(
            f"conditional is 'joint', but the joint log-density of {path!r} is not "
            "linear in beta: expected 'marginal'"
        )
    rng, n_sweeps = checks.generator(rng), checks.count("n_sweeps", n_sweeps, 4)
    first, start, index = both_ends(path, betas, n_chains, PILOT_STEPS, rng)
    return simulated_tempering(
        path,
        betas,
        first.log_z,
        n_chains,
        n_sweeps,
        rng,
        start=start,
        index=index,
        prior=prior,
        conditional=conditional,
        n_blocks=n_blocks,
    )


def rts_of_sample(sample, skip=0):
    """`rts` from a sample of simulated tempering, without its first ``skip`` blocks of time."""
    share = sample.block_sweeps[skip:] / sample.block_sweeps[skip:].sum()
    q = sample.mixed[skip:, :, 0] / sample.block_sweeps[skip:, None, None]  # (blocks, chains, K)
    chains = np.einsum("b,bck->ck", share, q)
    c, relative = chains.mean(axis=0), np.log(sample.prior)
    log_z = sample.log_z + (np.log(c) - relative) - (np.log(c) - relative)[0]
    influences = chains / c - (chains / c)[:, :1]
    blocks = share[:, None] * (q[..., -1] / c[-1] - q[..., 0] / c[0])
    errors = influences.std(axis=0, ddof=1) / np.sqrt(len(influences))
    return of_chains(
        "rts",
        sample,
        log_z,
        blocks,
        ends=q[..., [0, -1]],
        trace={"std_error": errors, "occupation": c},
    )
