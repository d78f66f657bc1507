"""Time draws of colours and of rectified units, and a step of annealing, against NumPy's.

    python book/_tools/bench_kinds.py [--chains 256] [--rounds 15]

NumPy's draws are layers of the same kinds, which invert the same distributions by cumulative sums
and by SciPy's inverse of log Phi; all else of a step is shared. All take turns on one thread.
Writes data/results/speed_kinds.csv: the published RBM of the WW domain (31 sites of 21 colours, 100
rectified units), and one of as many sites and 100 bits.
"""

import argparse
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import expit, log_ndtr, ndtri_exp
from turns import in_turns, keep, limited

import rbmlib as rl
from rbmbook.ww_domain import ww_domain
from rbmlib.models.layers import shape_of
from rbmlib.numerics import ChainStream, log_half_gaussian
from rbmlib.sampling import anneal

N_STEPS = 10


class Colours(rl.Potts):
    """Drawn by NumPy."""

    def draw(self, x, rng, n=None):
        below = np.cumsum(self._relative(x)[1], axis=2)
        u = rng.random(shape_of(below[..., 0], n))[..., None] * below[..., -1:]
        return np.eye(self.q)[(below <= u).sum(axis=2)].reshape(len(u), -1)


class Halves(rl.DoubleReLU):
    """Drawn and summed by SciPy."""

    def sides(self, x):
        both = (x - self.theta_plus, self.a_plus**-0.5), (-x - self.theta_minus, self.a_minus**-0.5)
        return [(sd, f * sd, np.log(sd) + log_half_gaussian(f * sd)) for f, sd in both]

    def cumulant(self, x):
        (*_, above), (*_, below) = self.sides(x)
        return np.logaddexp(above, below).sum(axis=1)

    def draw(self, x, rng, n=None):
        (sd, z, above), (sd_, z_, below) = self.sides(x)
        share, u = expit(above - below), rng.random(shape_of(x, n))
        up = u < share
        rest = np.where(up, u, 1 - u) / np.where(up, share, 1 - share)
        sd, z = np.where(up, sd, sd_), np.where(up, z, z_)
        return np.where(up, sd, -sd) * np.maximum(z - ndtri_exp(np.log(rest) + log_ndtr(z)), 0.0)


def by_numpy(layer):
    """The same layer, drawn by NumPy."""
    kind = {rl.Potts: Colours, rl.DoubleReLU: Halves}.get(type(layer), type(layer))
    other = object.__new__(kind)
    other.__dict__.update(layer.__dict__)
    return other


def programs(rbm, n_chains: int) -> dict:
    """Name -> a function, of each loop; both sample the same path, and draw at the same fields."""
    found, seeded = {}, partial(ChainStream, 0, n_chains)
    betas = 0.5 + 1e-4 * np.arange(N_STEPS + 1)
    start = rl.GeometricPath(rbm).sample_base(n_chains, np.random.default_rng(0))
    half = rl.GeometricPath(rbm).at(0.5)
    x = half.field(start)
    y = half.visible_field(half.hidden.draw(x, np.random.default_rng(1)))
    for loop, turned in (("NumPy", by_numpy), ("rbmlib", lambda layer: layer)):
        visible, hidden = turned(rbm.visible), turned(rbm.hidden)
        path = rl.GeometricPath(rl.RBM(visible, hidden, rbm.weights))
        found["a draw of the visible units", loop] = lambda v=visible: v.draw(y, seeded())
        found["a draw of the hidden units", loop] = lambda h=hidden: h.draw(x, seeded())
        found["a step of annealing", loop] = lambda p=path: anneal(p, start, betas, seeded())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chains", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    rng, rows = np.random.default_rng(0), []
    bits = rl.RBM(
        rl.Potts(rng.normal(size=651), 21), rl.Binary(rng.normal(size=100)),
        rng.normal(scale=0.2, size=(651, 100)),
    )  # fmt: skip
    for name, rbm in (("ww_domain", ww_domain()), ("colours, bits", bits)):
        with limited(1):
            seconds = in_turns(programs(rbm, options.chains), options.rounds)
        for what in dict.fromkeys(what for what, _ in seconds):
            n = options.chains * (N_STEPS if "step" in what else 1)
            numpy, ours = (np.array(seconds[what, k])[:, 1] / n * 1e6 for k in ("NumPy", "rbmlib"))
            ratio = np.median(numpy / ours)
            rows.append((name, what, np.median(numpy), np.median(ours), ratio))
    columns = ["model", "what", "NumPy, microseconds a chain", "compiled", "times NumPy"]
    print(keep(pd.DataFrame(rows, columns=columns), "speed_kinds").to_string(index=False))


if __name__ == "__main__":
    main()
