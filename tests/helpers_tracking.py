"""A small model, data and base by which log Z is tracked."""

import numpy as np
from helpers_stats import log_sum, rbm_table

import rbmlib as rl
from rbmlib import BernoulliRBM

BETAS = rl.schedules.linear(9)
DATA = rl.sample(rl.testsystems.random_rbm(10, 5, rng=0), 200, rng=1).states
BASE = rl.base_rate(DATA)


def random_rbm(seed, scale=1.0) -> BernoulliRBM:
    rng = np.random.default_rng(seed)
    w, b, a = (scale * rng.normal(size=size) for size in ((10, 5), 10, 5))
    return BernoulliRBM(w, b, a)


def exact(rbm) -> float:
    return float(log_sum(rbm_table(rbm)))
