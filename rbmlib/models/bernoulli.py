"""Units in {0, 1} in both layers, of this library's arrays or of other programs'."""

from __future__ import annotations

from collections.abc import Mapping

from .. import checks
from .layers import Bits
from .names import SKLEARN, arranged, parameters, told
from .rbm import RBM


class BernoulliRBM(RBM):
    """A restricted Boltzmann machine with binary units in {0, 1}: `RBM` of `Bits` and `Bits`.

    Parameters
    ----------
    weights : array (n_visible, n_hidden)
    visible_bias : array (n_visible,)
    hidden_bias : array (n_hidden,)
    log_scale : float
        As in `RBM`, whose errors are raised too.

    Examples
    --------
    >>> rbm = BernoulliRBM(weights=[[1.0], [-1.0]], visible_bias=[0, 0], hidden_bias=[0.5])
    >>> rbm.n_visible, rbm.n_hidden
    (2, 1)
    >>> float(rbm.log_density([1, 0])[0].round(4))  # log(1 + exp(1.5))
    1.7014
    """

    layers = (Bits, Bits)

    def __init__(self, weights, visible_bias, hidden_bias, *, log_scale: float = 0.0):
        w, b, a = parameters(weights, visible_bias, hidden_bias)
        super().__init__(Bits(b), Bits(a), w, log_scale=log_scale)

    @classmethod
    def from_arrays(
        cls, weights, visible_bias, hidden_bias, *, layout: str | None = None
    ) -> BernoulliRBM:
        """From arrays in which W may lie either way.

        ``layout`` ("visible_hidden" or "hidden_visible") says what its rows and columns are. None:
        the lengths of the biases decide, and square weights, of which they tell nothing, raise
        ValueError. PyTorch (``Linear``) and scikit-learn keep "hidden_visible".
        """
        return cls(*arranged(weights, visible_bias, hidden_bias, layout))

    @classmethod
    def from_spins(cls, weights, visible_bias, hidden_bias) -> BernoulliRBM:
        """From a model with units in {-1, +1}; same log Z. (`Spins` keep such units as they are.)

        With s = 2v - 1 and t = 2h - 1, ``s W t + b s + a t`` becomes ``v W' h + b' v + a' h + c``
        with W' = 4 W, b' = 2 (b - W 1), a' = 2 (a - W^T 1) and c = sum W - sum b - sum a, which
        is kept as `log_scale`.
        """
        w, b, a = parameters(weights, visible_bias, hidden_bias)
        return cls(
            4 * w,
            2 * (b - w.sum(axis=1)),
            2 * (a - w.sum(axis=0)),
            log_scale=w.sum() - b.sum() - a.sum(),
        )

    @classmethod
    def from_state_dict(
        cls, state, *, layout: str | None = None, names: dict[str, str] | None = None
    ) -> BernoulliRBM:
        """From the ``module.state_dict()`` of a PyTorch RBM, or any dict of arrays.

        Parameters
        ----------
        state : mapping of names to tensors or arrays
            The parameters are told by their names, whatever their case and prefix ("rbm.W"):
            weights, such as W, weight or weights; visible biases, such as v_bias, vbias,
            visible_bias or bv; hidden biases, such as h_bias, hbias, hidden_bias or bh. Of b and
            c, b are visible and c hidden; a bias of another name, such as the ``bias`` of a
            ``Linear``, is the one that is left. Each may be (n,), (1, n) or (n, 1).
        layout : {"visible_hidden", "hidden_visible"}, optional
            What the rows and columns of the weights are. None: the lengths of the biases decide;
            square weights need it, unless they have the name of a program that keeps them one way
            (``components_``, ``vishid``, ``parameter_W``). ``F.linear`` takes "hidden_visible".
        names : dict, optional
            Which keys are weights, visible_bias and hidden_bias; all others are left out.

        Raises
        ------
        ValueError
            If keys are missing, unknown, or could be two things, which lists the keys; or if the
            arrays do not fit each other, or their layout is not told.
        TypeError
            If ``state`` is no mapping.

        Examples
        --------
        >>> import numpy as np, rbmlib as rl
        >>> state = {"W": np.ones((2, 5)), "v_bias": np.zeros(5), "h_bias": np.zeros(2)}
        >>> rl.BernoulliRBM.from_state_dict(state)
        BernoulliRBM(n_visible=5, n_hidden=2)
        """
        meaning = "a dict of tensors or arrays by name, such as module.state_dict()"
        checks.instance("state", state, Mapping, meaning)
        nested = [key for key, value in state.items() if isinstance(value, Mapping)]
        if nested:
            raise ValueError(
                f"state holds a dict under {nested[0]!r}: expected {meaning}; pass that of the "
                f"model, for example state[{nested[0]!r}]"
            )
        found = told(state, names, "state")
        arrays = {role: checks.array_of(str(key), state[key]) for role, key in found.keys.items()}
        return cls.from_arrays(**arrays, layout=layout or found.layout)

    @classmethod
    def from_sklearn(cls, model) -> BernoulliRBM:
        """From a fitted ``sklearn.neural_network.BernoulliRBM``."""
        missing = [name for name in SKLEARN if not hasattr(model, name)]
        if missing:
            raise ValueError(
                f"model has no {', '.join(missing)}: expected a fitted "
                "sklearn.neural_network.BernoulliRBM; call model.fit(data) first"
            )
        weights, visible_bias, hidden_bias = (getattr(model, name) for name in SKLEARN)
        return cls(weights.T, visible_bias, hidden_bias)
