"""Conversion of arguments to models, models of other programs, and log-likelihoods."""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import checks
from ..numerics import logsumexp
from ..results import warn
from .formats import SKLEARN, Names, of_foreign
from .gauges import to_bits
from .layers import Binary, Spin
from .named import BernoulliRBM
from .rbm import RBM, made

HOW_TO_MAKE_ONE = (
    "; rl.load_rbm reads one by its name or path, rl.from_state_dict(state) makes one of a dict of "
    "tensors, and what rl.train returns has one as .rbm"
)
ROUNDING = 1e-6  # nats: rounding error of a log-sum over states


def as_rbm(name: str, value, meaning: str = "a BernoulliRBM or another RBM") -> RBM:
    """Return ``value``, or the RBM made from it if it is a fitted scikit-learn model.

    Raises TypeError for any other object, and ValueError if the scikit-learn model is not fitted.
    """
    model = as_model(name, value)
    if not isinstance(model, RBM):
        raise TypeError(f"{name} is a {type(value).__name__}: expected {meaning}{HOW_TO_MAKE_ONE}")
    return model


def as_rbm_of_bits(name: str, value, meaning: str = "a BernoulliRBM") -> RBM:
    """Like `as_rbm`, but raise TypeError unless both layers are `Binary`."""
    model = as_rbm(name, value, meaning)
    if not (isinstance(model.visible, Binary) and isinstance(model.hidden, Binary)):
        spins = {type(model.visible), type(model.hidden)} <= {Binary, Spin}
        remedy = f"; {name}.to_bits() is the same model in units of 0 and 1" * spins
        raise TypeError(f"{name} is {shown(model)}: expected {meaning}{remedy}")
    return model


def shown(model) -> str:
    """Return words for a message: the layers of a plain `RBM`, otherwise the class name."""
    return repr(model) if type(model) is RBM else f"a {type(model).__name__}"


def as_model(name: str, value) -> Any:
    """Like `as_rbm`, but return any other object unchanged."""
    if isinstance(value, RBM):
        return value
    if hasattr(value, SKLEARN[0]) or type(value).__name__ == "BernoulliRBM":
        return BernoulliRBM.from_sklearn(value)
    return value


def from_state_dict(
    state, *, layout: str | None = None, names: Names = None, units: str | None = None
) -> RBM:
    """Make an RBM from a PyTorch ``module.state_dict()`` or any dict of arrays.

    Parameters
    ----------
    state : mapping of names to tensors or arrays
        Names identify the parameters, whatever their case and prefix ("rbm.W"): for example W or
        weight for the weights, and v_bias, visible_bias or bv for the visible biases. Each bias
        may have shape (n,), (1, n) or (n, 1).
    layout : {"visible_hidden", "hidden_visible"}, optional
        What the rows and the columns of the weights stand for: ``F.linear`` and scikit-learn use
        "hidden_visible". By default, the lengths of the biases decide. Square weights need a
        layout unless their name implies one (``components_``, ``vishid``, ``parameter_W``).
    names : dict or str, optional
        The keys of weights, visible_bias and hidden_bias, if ``state`` uses other names or holds
        more arrays. A string has the form "weights=J,visible_bias=u,hidden_bias=v".
    units : {"bits", "spins"}, optional
        The states of the units in both layers: 0 and 1, or -1 and +1. By default, the entry
        ``units`` of the state decides; without this entry the units are bits.

    Raises
    ------
    ValueError, TypeError
        If ``state`` is not a mapping, the three parameters cannot be identified, their shapes do
        not match, or a layout is needed.

    Examples
    --------
    >>> import numpy as np, rbmlib as rl
    >>> state = {"W": np.ones((2, 5)), "v_bias": np.zeros(5), "h_bias": np.zeros(2)}
    >>> rl.from_state_dict(state)
    BernoulliRBM(n_visible=5, n_hidden=2)
    >>> rl.from_state_dict(state, units="spins")
    RBM(Spin(5), Spin(2))
    """
    meaning = "a dict of tensors or arrays by name, such as module.state_dict()"
    checks.instance("state", state, Mapping, meaning)
    for key, value in state.items():
        if isinstance(value, Mapping):
            came = f"state[{key!r}] is a dict"
            raise ValueError(f"{came}: expected {meaning}; if it holds the model, pass it instead")
    return made(of_foreign(state, "state", layout, names, units))


# the identity of a model ------------------------------------------------------------------------


def described(model: RBM) -> dict[str, str]:
    """Return the sizes and the unit states in words, and a fingerprint of the parameters."""
    kinds = (_states_of(layer) for layer in (model.visible, model.hidden))
    words = f"{model.n_visible} x {model.n_hidden}, units {' and '.join(dict.fromkeys(kinds))}"
    plain = to_bits(model)
    fingerprint = zlib.crc32(plain.weights.tobytes(), zlib.crc32(b"%r" % plain.log_scale))
    for layer in (plain.visible, plain.hidden):
        for name in layer.parameters + layer.constants:
            fingerprint = zlib.crc32(np.asarray(getattr(layer, name), float).tobytes(), fingerprint)
    return {"model": words, "fingerprint": f"{fingerprint:08x}"}


def _states_of(layer) -> str:
    if layer.values is None:
        return "real"
    if layer.values.shape[1] > 1:
        return f"one of {len(layer.values)}"
    return "/".join(f"{x:g}" for x in layer.values.ravel()).replace("-1/1", "-1/+1")


def log_likelihood(model, data, log_z) -> np.ndarray:
    """Return the log-likelihood of each row of ``data``, log p(v) = log p*(v) - log Z, in nats.

    Returns an array (n_states,) (report, eq. 23). ``model`` is an RBM or a fitted scikit-learn
    BernoulliRBM, and ``log_z`` is a number or an `Estimate`. An error in log Z shifts all
    log-likelihoods equally. A `ConvergenceWarning` is issued if the `Estimate` has not converged,
    or if distinct rows of countable units have a total probability above one.

    Raises ValueError if log Z is not finite or belongs to another model, or if the data are not
    states of the model; TypeError if ``model`` is not a model.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm, rows = rl.load_rbm("pcd_10"), rl.datasets.load_mnist().test
    >>> round(float(rl.log_likelihood(rbm, rows, rl.exact(rbm)).mean()), 1)
    -159.3
    """
    model = as_rbm("model", model)
    data = checks.states("data", data, model.visible)
    of, own = getattr(log_z, "settings", {}), described(model)
    if of.get("fingerprint", own["fingerprint"]) != own["fingerprint"]:
        came = f"of another model ({of.get('model')}) than this one ({own['model']})"
        meaning = "an estimate of the same weights and biases; or give the number"
        raise ValueError(f"log_z is {came}: expected {meaning}")
    if not getattr(log_z, "converged", True):
        remedy = "run it longer, or give the number to accept it"
        warn(f"log_likelihood: log_z comes from an estimate whose checks failed; {remedy}")
    error = np.nan_to_num(getattr(log_z, "std_error", 0.0))
    value = getattr(log_z, "log_z", log_z)
    value = float(checks.array("log_z", value, (), "one number in nats, or an Estimate"))
    found = model.log_density(data) - value
    if model.visible.values is not None and len(found):
        _, first = np.unique(np.packbits(data > 0, axis=1), axis=0, return_index=True)
        excess = float(logsumexp(found[first]))  # log of the total probability of distinct rows
        if excess > 5 * error + ROUNDING:
            held = f"these rows alone have a log-sum of {value + excess:.4f}"
            high = f"each log p(v) is too high, by {excess:.4g} nats or more"
            warn(f"log_likelihood: log_z is {value:.4f}, but {held}: {high}")
    return found
