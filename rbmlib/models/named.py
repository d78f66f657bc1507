"""Named models: Bernoulli, Gaussian and leaky RBMs."""

from __future__ import annotations

from .. import checks
from .formats import SKLEARN, parameters
from .layers import Binary, Gaussian, LeakyReLU
from .rbm import RBM


class BernoulliRBM(RBM):
    """A restricted Boltzmann machine with two layers of `Binary` units.

    Parameters
    ----------
    weights : array (n_visible, n_hidden)
    visible_bias : array (n_visible,)
    hidden_bias : array (n_hidden,)
        Zero by default.
    log_scale : float
        As in `RBM`, which also describes the errors.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.BernoulliRBM(weights=[[1.0], [-1.0]], visible_bias=[0, 0], hidden_bias=[0.5])
    >>> rbm.n_visible, rbm.n_hidden
    (2, 1)
    >>> float(rbm.log_density([1, 0])[0].round(4))  # log(1 + exp(1.5))
    1.7014
    """

    layers = (Binary, Binary)

    def __init__(self, weights, visible_bias=None, hidden_bias=None, *, log_scale: float = 0.0):
        w, b, a = parameters(weights, visible_bias, hidden_bias)
        super().__init__(Binary(b), Binary(a), w, log_scale=log_scale)

    @classmethod
    def from_sklearn(cls, model) -> BernoulliRBM:
        """Make a model from a fitted ``sklearn.neural_network.BernoulliRBM``.

        Raises ValueError if the model is not fitted, or is an instance of a subclass.
        """
        missing = [name for name in SKLEARN if not hasattr(model, name)]
        if missing:
            meaning = "a fitted sklearn.neural_network.BernoulliRBM; call model.fit(data) first"
            raise ValueError(f"model has no {', '.join(missing)}: expected {meaning}")
        kind = type(model)
        if kind.__name__ != "BernoulliRBM" or not kind.__module__.startswith("sklearn."):
            raise ValueError(
                f"model is a {kind.__module__}.{kind.__name__}, whose units may not be 0 and 1: "
                "expected a sklearn.neural_network.BernoulliRBM; if the units are 0 and 1, use "
                f"rl.BernoulliRBM(model.{', model.'.join(SKLEARN).replace('_,', '_.T,', 1)})"
            )
        weights, visible_bias, hidden_bias = (getattr(model, name) for name in SKLEARN)
        return cls(weights.T, visible_bias, hidden_bias)


class GaussianRBM(RBM):
    """An RBM with Gaussian visible units of unit variance and `Binary` hidden units.

    ``log p*(v, h) = b v - |v|^2 / 2 + (v W + a) h``, so v | h ~ N(b + W h, I). The density of v is
    a mixture of 2**n_hidden Gaussians, which is proper for any weights. Data should be
    standardised.

    The arguments are those of `BernoulliRBM`.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.GaussianRBM([[1.0], [0.0]])
    >>> float(rbm.log_density([[1.0, 0.0]])[0].round(4))  # -1/2 + log(1 + e)
    0.8133
    """

    layers = (Gaussian, Binary)

    def __init__(self, weights, visible_bias=None, hidden_bias=None, *, log_scale: float = 0.0):
        w, b, a = parameters(weights, visible_bias, hidden_bias)
        super().__init__(Gaussian(b), Binary(a), w, log_scale=log_scale)


class LeakyRBM(RBM):
    """An RBM with Gaussian visible units and leaky rectified hidden units (Li et al. 2016).

    Let x_j = (v W + a)_j, and let c be the leakiness. Given v, ``h_j ~ N(x_j, 1)`` if x_j > 0 and
    ``h_j ~ N(c x_j, c)`` otherwise; ``log p*(v) = b v - |v|^2 / 2 + sum_j (1 or c) x_j^2 / 2``
    (eq. 6). The planes x_j = 0 divide space into regions; within each region the density is
    Gaussian. At c = 1 the model is a single Gaussian. The model is proper if I - W W' is positive
    definite (theorem 3.1).

    The paper samples v given h from N(b + W h, I). Unless c = 1, this is not p(v | h) of any model
    with this p(h | v): the variance of h_j depends on the sign of x_j(v), and so does the constant
    that normalises p(h | v). The stationary distribution of `gibbs` is therefore close to the model
    but not equal to it. `LeakinessPath` has exact transitions.

    The arguments are those of `BernoulliRBM` and the leakiness.

    Raises
    ------
    ValueError
        If the largest singular value of W is 1 or more, or the leakiness is outside (0, 1].

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.LeakyRBM([[0.8], [0.0]], leakiness=0.1)
    >>> [round(float(x), 4) for x in rbm.log_density([[1.0, 0.0], [-1.0, 0.0]])]
    [-0.18, -0.468]
    """

    layers = (Gaussian, LeakyReLU)

    def __init__(
        self, weights, visible_bias=None, hidden_bias=None, *, leakiness: float = 0.01,
        log_scale: float = 0.0,
    ):  # fmt: skip
        w, b, a = parameters(weights, visible_bias, hidden_bias)
        hidden = LeakyReLU(a, 1.0, checked_leakiness(leakiness))
        super().__init__(Gaussian(b), hidden, w, log_scale=log_scale)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, leakiness={self.leakiness:g})"

    @property
    def leakiness(self) -> float:
        return self.hidden.below

    def with_leakiness(self, leakiness: float) -> RBM:
        """Return the model with the same weights and biases but another leakiness."""
        return self.with_(hidden=self.hidden.with_(below=checked_leakiness(leakiness)))


def checked_leakiness(value) -> float:
    return checks.number("leakiness", value, "a number in (0, 1], such as 0.01", above=0, most=1)
