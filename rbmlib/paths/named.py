"""Named paths: geometric, leakiness and energy."""

from collections.abc import Callable

import numpy as np

from .. import checks
from ..models.conversion import as_rbm, shown
from ..models.layers import Gaussian, LeakyReLU
from ..models.rbm import RBM
from . import moves
from .bases import base_of, name_of
from .polyline import Polyline


class GeometricPath(Polyline):
    """The geometric path to an RBM; its parameters are linear in beta.

    For a base with zero weights, visible bias b_0 and hidden bias a_0 (0 by default),

        log p*_beta(v, h) = (1 - beta) (b_0 v + a_0 h) + beta (v W h + b v + a h),

    plus terms of the layers without parameters (``-|v|^2 / 2`` for Gaussian units). For bits
    log Z_0 = sum_i softplus(b_0i) + sum_j softplus(a_0j). If the visible units are Gaussian, states
    are rank(W) coordinates on the span of the weights (`RBM.reduced`), and ``visible_of`` returns
    visible units. Transitions are Gibbs sweeps.

    Parameters
    ----------
    rbm : RBM
        The target, or a fitted scikit-learn BernoulliRBM. Hidden units may be of any kind except
        `LeakyReLU`; for a `LeakyRBM` use `LeakinessPath`.
    base : array (n_visible,), RBM, "mean_field" or None
        Visible biases (`base_rate` of training data is the best known choice), or an RBM with zero
        weights. "mean_field" is a fit without data: `mean_field_bias`, or N(b, I) for Gaussian
        units. None is the uniform base, which loses modes of trained models; a warning says so.

    Raises
    ------
    TypeError, ValueError
        If ``rbm`` is not such a model, or ``base`` does not fit it.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.BernoulliRBM([[2.0], [-1.0]], visible_bias=[0, 1], hidden_bias=[0.5])
    >>> rl.GeometricPath(rbm, base=[0.0, 1.0]).at(0.5).weights.tolist()
    [[1.0], [-0.5]]
    """

    def __init__(self, rbm: RBM, base="mean_field"):
        rbm = as_rbm("rbm", rbm)
        if not rbm.hidden.conditional:
            meaning = "hidden units with a conditional, such as a BernoulliRBM"
            remedy = "a LeakyRBM takes rl.LeakinessPath, others rl.Polyline with a move"
            raise TypeError(f"rbm is {shown(rbm)}: expected {meaning}; {remedy}")
        low, target, span = base_of(rbm, base), rbm, None
        if isinstance(rbm.visible, Gaussian):
            target, span = rbm.reduced()
            bias, weights = low.visible.bias @ span.basis, np.zeros(target.weights.shape)
            visible = low.visible.with_(bias=bias)
            low = low.with_(visible=visible, weights=weights, log_scale=target.log_scale)
        super().__init__([low, target], span=span)
        self.rbm, self.base_name = rbm, name_of(base)

    @property
    def base_visible_bias(self) -> np.ndarray:
        """The visible biases of the base, (n_visible,), or those of the coordinates."""
        return self.models[0].visible.bias

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rbm!r}, base={self.base_name!r})"


class LeakinessPath(Polyline):
    """Anneal the leakiness from 1, a Gaussian, to that of the model (Li et al. 2016, section 4).

    The leakiness at beta is ``1 - beta (1 - c)``, and
    ``log p*_beta(v) = log p*_0(v) - beta (1 - c) / 2 sum of x_j^2 over x_j <= 0``. This is the
    geometric path between the two models (eq. 12). States are coordinates, as for Gaussian units in
    `GeometricPath`.

    Parameters
    ----------
    rbm : LeakyRBM
    kernel : {"hmc", "gibbs"} or function
        The transition: "hmc" is exact; "gibbs" is the sampler of the paper, whose bias in log Z
        more steps do not remove. A function has the form of those in `rbmlib.paths.moves`.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.LeakyRBM([[0.9, 0.0], [0.0, 0.9], [0.0, 0.0]])
    >>> estimate = rl.ais(rl.LeakinessPath(rbm), rl.schedules.linear(100), n_chains=500, rng=0)
    >>> abs(estimate.log_z - rbm.exact_log_z()) < 5 * estimate.std_error
    True
    """

    def __init__(self, rbm: RBM, kernel: str | Callable = "hmc"):
        layers = getattr(rbm, "visible", None), getattr(rbm, "hidden", None)
        if not isinstance(layers[0], Gaussian) or not isinstance(layers[1], LeakyReLU):
            raise TypeError(f"rbm is {shown(rbm)}: expected a LeakyRBM")
        if not callable(kernel):
            kernel = moves.LEAKY[checks.one_of("kernel", kernel, moves.LEAKY)]
        target, span = rbm.reduced()
        base = target.with_(hidden=self._base_of(target.hidden))
        super().__init__([base, target], move=kernel, span=span)
        self.rbm, self.joint = rbm, True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rbm!r}, kernel={self.move.__name__})"

    def _base_of(self, hidden):
        return hidden.with_(below=hidden.above)

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        base, w = self.models[0], self.models[0].weights  # with orthogonal rows
        slope = base.hidden.growth  # above and below 0
        precision = 1 - slope * np.einsum("ij,ij->i", w, w)
        mean = (base.visible.bias + slope * (w @ base.hidden.bias)) / precision
        return mean + precision**-0.5 * rng.standard_normal((n_chains, mean.size))


class EnergyPath(LeakinessPath):
    """Anneal the energy of a leaky RBM from N(b, I), the AIS-Energy of Li et al. (2016, eq. 11).

    ``log p*_beta(v) = b v - |v|^2 / 2 + beta sum_j F(x_j)``. The slopes of the hidden units go from
    0 to those of the target. The arguments are those of `LeakinessPath`.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.LeakyRBM([[0.9, 0.0], [0.0, 0.9], [0.0, 0.0]])
    >>> estimate = rl.ais(rl.EnergyPath(rbm), rl.schedules.linear(100), n_chains=500, rng=0)
    >>> abs(estimate.log_z - rbm.exact_log_z()) < 5 * estimate.std_error
    True
    """

    def _base_of(self, hidden):
        return hidden.with_(above=0.0, below=0.0)

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        return super().transition(v, np.maximum(beta, 0.0), rng)  # undefined for beta < 0
