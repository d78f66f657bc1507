"""Models: parameters, unnormalised log-densities, conditionals, loading and saving.

A Bernoulli RBM has visible units v and hidden units h in {0, 1} and

    log p*(v, h) = v W h + b v + a h + log_scale,
    log p*(v) = b v + sum_j softplus(x_j) + log_scale,    x = v W + a

(Salakhutdinov & Murray 2008, eq. 3; nats). W is (n_visible, n_hidden).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .._numerics import expit, softplus
from .._validation import (
    array_of,
    binary_states,
    instance,
    layer,
    numeric,
    one_of,
    source_of_random,
)
from .base import _RBM
from .files import UNMARKED, load_bernoulli
from .names import LAYOUTS, chosen, find


class BernoulliRBM(_RBM):
    """A restricted Boltzmann machine with binary units in {0, 1}.

    Parameters
    ----------
    weights : array (n_visible, n_hidden)
    visible_bias : array (n_visible,)
    hidden_bias : array (n_hidden,)
    log_scale : float
        Constant added to every log p*: 0 unless the model was converted from other units
        (`from_spins`), so that log Z is the original model's.

    Raises
    ------
    ValueError
        If a shape does not fit, or a value is not finite or beyond 1e12 in magnitude (1e7 for
        `log_scale`): float64 log-densities would lose the digits that error bars are made of.

    Examples
    --------
    >>> rbm = BernoulliRBM(weights=[[1.0], [-1.0]], visible_bias=[0, 0], hidden_bias=[0.5])
    >>> rbm.n_visible, rbm.n_hidden
    (2, 1)
    >>> float(rbm.log_density([1, 0])[0].round(4))  # log(1 + exp(1.5))
    1.7014
    """

    mark = UNMARKED
    of_bits = ("log_density", "log_joint_density")

    def __init__(self, weights, visible_bias, hidden_bias, *, log_scale: float = 0.0):
        super().__init__(weights, visible_bias, hidden_bias, log_scale=log_scale)

    # densities -----------------------------------------------------------------------------

    def log_density(self, visible) -> np.ndarray:
        """log p*(v), shape (n_states,), of binary states (n_states, n_visible)."""
        v = binary_states("visible", visible, self.n_visible).astype(float)
        return v @ self.visible_bias + softplus(self.hidden_field(v)).sum(axis=1) + self.log_scale

    def log_joint_density(self, visible, hidden) -> np.ndarray:
        """log p*(v, h), shape (n_states,), of paired states."""
        v = binary_states("visible", visible, self.n_visible).astype(float)
        h = binary_states("hidden", hidden, self.n_hidden).astype(float)
        if len(v) != len(h):
            raise ValueError(f"hidden has {len(h)} states: expected one a visible state, {len(v)}")
        return (
            np.einsum("nj,nj->n", v @ self.weights, h)
            + v @ self.visible_bias
            + h @ self.hidden_bias
            + self.log_scale
        )

    # conditionals --------------------------------------------------------------------------

    def hidden_mean(self, visible) -> np.ndarray:
        """p(h_j = 1 | v), shape (n_states, n_hidden)."""
        return expit(self.hidden_field(visible))

    def visible_mean(self, hidden) -> np.ndarray:
        """p(v_i = 1 | h), shape (n_states, n_visible)."""
        return expit(self.visible_field(hidden))

    def sample_visible(self, hidden, rng) -> np.ndarray:
        """A draw of v given h."""
        mean = self.visible_mean(layer("hidden", hidden, self.n_hidden, finite=True))
        return (source_of_random(rng).random(mean.shape) < mean).astype(float)

    # other forms ---------------------------------------------------------------------------

    @property
    def n_enumerated(self) -> int:
        """Units of the smaller layer, over whose states `rbmlib.exact` can sum."""
        return min(self.n_visible, self.n_hidden)

    def transposed(self) -> BernoulliRBM:
        """The same model with its layers exchanged; same log Z."""
        return BernoulliRBM(
            self.weights.T, self.hidden_bias, self.visible_bias, log_scale=self.log_scale
        )

    @classmethod
    def from_arrays(
        cls, weights, visible_bias, hidden_bias, *, layout: str | None = None
    ) -> BernoulliRBM:
        """From arrays in which W may lie either way.

        Parameters
        ----------
        weights : array (n_visible, n_hidden) or (n_hidden, n_visible)
        visible_bias, hidden_bias : array
        layout : {"visible_hidden", "hidden_visible"}, optional
            What the rows and columns of the weights are. None: the lengths of the biases decide,
            and square weights, of which they tell nothing, raise ValueError. PyTorch (``Linear``)
            and scikit-learn keep "hidden_visible".
        """
        meaning = "two vectors of biases and a matrix of weights between them"
        named = {"weights": weights, "visible_bias": visible_bias, "hidden_bias": hidden_bias}
        w, b, a = (numeric(name, value, meaning) for name, value in named.items())
        if layout is not None:
            one_of("layout", layout, LAYOUTS)
        elif w.shape == (b.size, a.size) == (a.size, b.size):
            raise ValueError(
                f"weights is square, {b.size} x {b.size}, so that the biases cannot tell its "
                "layout: expected layout='visible_hidden' (one row a visible unit) or "
                "layout='hidden_visible' (one row a hidden unit, as PyTorch's)"
            )
        turned = w.shape == (a.size, b.size) != (b.size, a.size)
        return cls(w.T if layout == "hidden_visible" or (layout is None and turned) else w, b, a)

    @classmethod
    def from_spins(cls, weights, visible_bias, hidden_bias) -> BernoulliRBM:
        """From a model with units in {-1, +1}; same log Z.

        With s = 2v - 1 and t = 2h - 1, ``s W t + b s + a t`` becomes ``v W' h + b' v + a' h + c``
        with W' = 4 W, b' = 2 (b - W 1), a' = 2 (a - W^T 1) and c = sum W - sum b - sum a, which
        is kept as `log_scale`.
        """
        spin = cls(weights, visible_bias, hidden_bias)
        w, b, a = spin.weights, spin.visible_bias, spin.hidden_bias
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
        instance("state", state, Mapping, meaning)
        nested = [key for key, value in state.items() if isinstance(value, Mapping)]
        if nested:
            raise ValueError(
                f"state holds a dict under {nested[0]!r}: expected {meaning}; pass that of the "
                f"model, for example state[{nested[0]!r}]"
            )
        found = (
            find(state, strict=True, what="state")
            if names is None
            else chosen(names, state, "state")
        )
        arrays = {role: array_of(str(key), state[key]) for role, key in found.keys.items()}
        return cls.from_arrays(**arrays, layout=layout or found.layout)

    @classmethod
    def from_sklearn(cls, model) -> BernoulliRBM:
        """From a fitted ``sklearn.neural_network.BernoulliRBM``."""
        missing = [
            name
            for name in ("components_", "intercept_visible_", "intercept_hidden_")
            if not hasattr(model, name)
        ]
        if missing:
            raise ValueError(
                f"model has no {', '.join(missing)}: expected a fitted "
                "sklearn.neural_network.BernoulliRBM; call model.fit(data) first"
            )
        return cls(model.components_.T, model.intercept_visible_, model.intercept_hidden_)

    @classmethod
    def load(
        cls, path, *, layout: str | None = None, names: dict[str, str] | None = None
    ) -> BernoulliRBM:
        """Read an .npz of `save`, or an .npz or MATLAB .mat of another program.

        Parameters
        ----------
        path : str or path
        layout, names
            As in `from_state_dict`, for files of other programs: their arrays are told by the
            same names. Those that `save` wrote need neither.

        Raises
        ------
        FileNotFoundError
            If there is none.
        ValueError
            Naming the file, if it is damaged, or holds no RBM, or one whose parts or layout are
            not told; it lists the arrays. Files of other kinds (.pt, .pkl, .h5 ...) are refused
            with the line that converts them: nothing in a file is executed (no pickle).
        """
        return load_bernoulli(path, layout=layout, names=names)
