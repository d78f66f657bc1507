"""The paths that have names."""

from ..models.layers import Normal
from ..models.rbm import RBM
from .bases import base_of
from .polyline import Polyline


class GeometricPath(Polyline):
    """From a base of no weights: visible biases (such as `base_rate` of data), or an RBM."""

    def __init__(self, rbm, base="uniform"):
        rbm, expand = rbm.reduced() if isinstance(rbm.visible, Normal) else (rbm, None)
        super().__init__([base_of(rbm, base), rbm], expand=expand)


class TrajectoryPath(Polyline):
    """Through the models of a training, in order."""

    def __init__(self, checkpoints, base="uniform"):
        super().__init__([base_of(checkpoints[0], base), *checkpoints])


class LeakinessPath(Polyline):
    """From leakiness 1, a Gaussian, to the model's (Li et al. 2016, section 4)."""

    slopes = 1.0, 1.0  # of the hidden units of the base, above and below zero

    def __init__(self, rbm, move=None):
        rbm, expand = rbm.reduced()
        above, below = self.slopes
        hidden = rbm.hidden.with_(above=above, below=below)
        base = RBM(rbm.visible, hidden, rbm.weights, log_scale=rbm.log_scale)
        super().__init__([base, rbm], move=move, expand=expand)


class EnergyPath(LeakinessPath):
    """From N(b, I): the cumulants of the hidden units times beta (Li et al., eq. 11)."""

    slopes = 0.0, 0.0
