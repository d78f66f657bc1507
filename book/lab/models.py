"""The models of the book and their reference log Z, and models that only the book needs."""

import json
import pickle
from typing import Any

import numpy as np
import pandas as pd

import rbmlib as rl
from rbmlib import BernoulliRBM, datasets
from rbmlib.models.testsystems import GaussianMixture
from rbmlib.numerics import logsumexp, softplus


def load_reference() -> dict[str, Any]:
    """The reference set: a row of ``data/reference.csv`` for each model, small ones first.

    ``log_z``, in nats, is exact (``std_error`` 0) or pooled from ``n_runs`` runs of independent
    methods (`data/make_reference.py`), with the ``chi_squared`` about their mean. ``lower`` and
    ``upper`` are means over chains of forward and reverse annealing, with standard errors. A value
    is ``settled`` if it is exact, or if unflagged runs of at least two methods agree (p-value of
    ``chi_squared`` at least 0.001) with a standard error of at most 0.02 nats.
    """
    table = pd.read_csv(datasets.committed("reference.csv"))
    return {row.model: row for row in table.itertuples(index=False, name="Reference")}


def datasheet() -> pd.DataFrame:
    """One row per model of the reference set, small ones first; published ones without updates."""
    models = pd.DataFrame(load_reference().values()).sort_values(["n_hidden", "n_visible", "model"])
    known = models.rename(columns={"log_z": "log Z", "std_error": "s.e."})
    known["known by"] = known["exact"].map({True: "enumeration", False: "long runs"})
    known = known.loc[known["settled"], ["log Z", "s.e.", "known by"]]
    trained = [_training(name) for name in models["model"]]
    columns = pd.DataFrame(trained, columns=["data", "trained by", "updates"], index=models.index)
    units = models[["model", "n_visible", "n_hidden"]]
    units = units.rename(columns={"n_visible": "visible", "n_hidden": "hidden"})
    sheet = units.join(columns.astype({"updates": "Int64"})).join(known)
    return sheet.fillna({"known by": "later chapters"}).reset_index(drop=True)


def _training(name: str) -> tuple[str, str, int | None]:
    if name in datasets.register.PUBLISHED_RBMS:
        is_told = name == "salakhutdinov_cd25_500"  # by its author
        return "MNIST", "CD-25, by its author" if is_told else "training not recorded", None
    records = datasets.committed("models/models.json").read_text(encoding="utf-8")
    settings = json.loads(records)[name]["settings"]
    is_cd = settings["method"] == "cd" or "hidden" in settings
    method = f"CD-{settings['n_sweeps']}" if is_cd else "PCD"
    if "spectral" in (settings["method"], settings.get("optimizer")):
        method += ", spectral steps"
    if settings.get("hidden") == "leaky":
        method += ", leaky units"
    if settings.get("hidden") == "bernoulli":
        method += ", Gaussian visible units"
    return settings["data"].split()[0], method, settings["n_updates"]


def first_order_rbm(n_visible: int = 120, n_hidden: int = 25) -> tuple[BernoulliRBM, float]:
    """A model with equal weights and two phases that no temperature connects, and its log Z.

    Unless most visible units are on, hidden units are off and visible units are fair coins. Beyond
    a threshold, all hidden units are on, and each visible unit is 1 with odds e^6. States between
    the phases are rare at every temperature, by a factor exponential in ``n_visible``. With n
    visible units on, ``Z = sum_n binomial(N, n) (1 + exp(a + w n))^M``.

    Examples
    --------
    >>> rbm, log_z = first_order_rbm(12, 8)
    >>> abs(rl.exact(rbm).log_z - log_z) < 1e-9
    True
    """
    n, m = n_visible, n_hidden
    weight, bias = 6.0 / m, n * (np.log(2.0) - softplus(6.0)) / m
    rbm = BernoulliRBM(np.full((n, m), weight), np.zeros(n), np.full(m, bias))
    on = np.arange(n + 1)
    log_binomials = np.cumsum(np.log(np.r_[1.0, on[:0:-1] / on[1:]]))
    return rbm, float(logsumexp(log_binomials + m * softplus(bias + weight * on)))


def of_spins(weights, visible_bias, hidden_bias) -> rl.RBM:
    """Convert a model of spins to units 0 and 1."""
    return rl.RBM(rl.Spin(visible_bias), rl.Spin(hidden_bias), weights).to_bits()


def tempered_log_z(mixture: GaussianMixture, base_variance: float, betas) -> np.ndarray:
    """log Z (K,) at each beta of the geometric path from N(0, base_variance I) to a mixture.

    The means of the mixture differ only in the first dimension, and the other dimensions are
    Gaussian integrals. The sum over a grid in the first dimension is exact up to rounding.
    """
    s2, v2 = mixture.variance, base_variance
    reach = np.abs(mixture.means[:, 0]).max() + 12 * np.sqrt(max(s2, v2))
    x = np.linspace(-reach, reach, 40_001)
    first = logsumexp(-((x[:, None] - mixture.means[:, 0]) ** 2) / (2 * s2), axis=1)
    base = -(x**2) / (2 * v2) - np.log(2 * np.pi * v2) / 2
    log_z = []
    for beta in betas:
        total = logsumexp(beta * first + (1 - beta) * base) + np.log(x[1] - x[0])
        precision = beta / s2 + (1 - beta) / v2
        for mean in mixture.means[0, 1:]:
            pull = beta * mean / s2
            total += (np.log(2 * np.pi / precision) + pull**2 / precision - beta * mean**2 / s2) / 2
            total -= (1 - beta) * np.log(2 * np.pi * v2) / 2
        log_z.append(total)
    return np.array(log_z)


# the published RBM of the WW domain (Tubiana, Cocco & Monasson 2019) ------------------------

# Potts and dReLU units, pickled by the program ProteinMotifRBM under Python 2.
# `rbmlib.datasets.fetch` knows the SHA-256 of the file, so what is opened is that file.


class _Object:
    """Attributes of an object of the program, without its code."""

    def __init__(self, *_):
        self.held: dict = {}

    def __setstate__(self, state):
        self.held = state


class _Reader(pickle.Unpickler):
    def find_class(self, module, name):
        if module in ("numpy", "numpy.core.multiarray"):
            return super().find_class(module.replace("numpy.core", "numpy._core"), name)
        return _Object


def ww_domain() -> rl.RBM:
    """31 sites of 21 letters and 100 hidden units; downloaded at first use."""
    source, constants = datasets.fetch("ww_domain"), rl.DoubleReLU.constants
    if source.suffix == ".npz":  # a copy with only the arrays
        with np.load(source) as file:
            arrays = dict(file)
    else:
        with open(source, "rb") as file:
            held = _Reader(file, encoding="latin1").load().held
        arrays = {name: held["hlayer"].held[name] for name in constants}
        arrays |= {"fields": held["vlayer"].held["fields"], "weights": held["weights"]}
    fields, weights = arrays["fields"], arrays["weights"]
    if weights.shape[1:] == fields.shape:  # (n_hidden, sites, letters)
        weights = np.moveaxis(weights, 0, -1)
    hidden = rl.DoubleReLU(np.zeros(weights.shape[2]), *(arrays[name] for name in constants))
    visible = rl.Potts(fields.ravel(), fields.shape[1])
    return rl.RBM(visible, hidden, weights.reshape(fields.size, -1))
