"""Which array of a file or a state dict is which parameter of an RBM: told by their names.

Names are compared without case, dots and underscores, and without prefixes such as "rbm.". What a
name leaves open is not guessed: "a" and "b" are the visible and the hidden bias of some programs,
and the reverse in others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from .. import checks

PARAMETERS = ("weights", "visible_bias", "hidden_bias")
SKLEARN = ("components_", "intercept_visible_", "intercept_hidden_")

NAMES = {
    "weights": "w weight weights vishid parameterw components wvh wv wvishid couplings",
    "visible_bias": "vbias visiblebias vbiases visiblebiases bv bvisible bvis biasv biasvis "
    "biasvisible visbias visbiases vb visible vis interceptvisible parameterb",
    "hidden_bias": "hbias hiddenbias hbiases hiddenbiases bh bhidden bhid biash biashid "
    "biashidden hidbias hidbiases hb hidden hid intercepthidden parametera",
}
ROLE = {name: role for role, names in NAMES.items() for name in names.split()}
PAIR = {"b": "visible_bias", "c": "hidden_bias"}  # only together
VAGUE = {"a", "b", "c", "bias", "biases"}  # the bias that is left when the other is told by name
LAYOUTS = ("visible_hidden", "hidden_visible")
KNOWN_LAYOUT = {  # of programs whose names are their own
    "vishid": "visible_hidden",
    "parameterw": "visible_hidden",
    "components": "hidden_visible",
}


class Found(NamedTuple):
    """The keys of the three parameters, and how the weights lie, if their name tells."""

    keys: dict[str, str]
    layout: str | None


def _endings(key: str):
    """A name and what is left of it without prefixes, longest first, plainly spelt."""
    parts = re.split(r"[./:]|__+", key)
    for i in range(len(parts)):
        yield re.sub(r"[^a-z0-9]", "", "".join(parts[i:]).lower())


def _role(key: str) -> str | None:
    return next((ROLE[name] for name in _endings(key) if name in ROLE), None)


def _last(key: str) -> str:
    return list(_endings(key))[-1]


def told(keys: Iterable[str], names: Mapping | None, what: str) -> Found:
    """The keys of weights and biases: those that ``names`` gives, or those told by their names.

    Raises ValueError if ``what`` holds keys that are none of the three, one is missing or two could
    be it: it lists all keys, and what to do.
    """
    keys = list(keys)
    if names is not None:
        return _chosen(names, keys, what)
    by_role = {role: [key for key in keys if _role(key) == role] for role in PARAMETERS}
    left = [key for key in keys if _role(key) is None]
    vague = [key for key in left if _last(key) in VAGUE]
    other = [key for key in left if _last(key) not in VAGUE]
    biases = by_role["visible_bias"], by_role["hidden_bias"]
    if not any(biases) and sorted(map(_last, vague)) == sorted(PAIR):
        for key in vague:
            by_role[PAIR[_last(key)]].append(key)
        vague = []
    elif len(vague) == 1 and sum(map(bool, biases)) == 1:
        biases[0 if not biases[0] else 1].append(vague.pop())
    trouble = [f"no {role}" for role, found in by_role.items() if not found]
    doubtful = [(found, role) for role, found in by_role.items() if len(found) > 1]
    for several, role in doubtful + [(vague, "either bias")] * bool(vague):
        trouble.append(f"{' and '.join(map(repr, several))} could be {role}")
    if other:
        trouble.append(f"{', '.join(map(repr, other))} unknown")
    if not any(by_role.values()) and not vague:
        raise ValueError(
            f"{what} holds no RBM, but {listed(keys)}: expected {', '.join(PARAMETERS)}, or the "
            f"names of another program; {remedy(keys)}"
        )
    if trouble:
        raise ValueError(f"{what} holds {listed(keys)}: {'; '.join(trouble)}; {remedy(keys)}")
    roles = {role: found[0] for role, found in by_role.items()}
    return Found(roles, KNOWN_LAYOUT.get(_last(roles["weights"])))


def _chosen(names: Mapping, keys: list[str], what: str) -> Found:
    if not isinstance(names, Mapping) or set(names) != set(PARAMETERS):
        came = sorted(map(str, names)) if isinstance(names, Mapping) else type(names).__name__
        raise ValueError(
            f"names is {came}: expected a dict of weights, visible_bias, hidden_bias, such as "
            "names={'weights': 'W', 'visible_bias': 'b', 'hidden_bias': 'c'}"
        )
    if absent := [repr(name) for name in names.values() if name not in keys]:
        raise ValueError(f"names asks for {', '.join(absent)}, but {what} holds {listed(keys)}")
    if len(set(names.values())) < len(PARAMETERS):
        raise ValueError(f"names is {dict(names)!r}: expected three different keys")
    return Found(dict(names), None)


def arranged(weights, visible_bias, hidden_bias, layout: str | None):
    """Weights (n_visible, n_hidden) and biases of arrays in which W may lie either way."""
    meaning = "two vectors of biases and a matrix of weights between them"
    given = zip(PARAMETERS, (weights, visible_bias, hidden_bias), strict=True)
    w, b, a = (checks.numeric(name, value, meaning) for name, value in given)
    if layout is not None:
        checks.one_of("layout", layout, LAYOUTS)
    elif w.shape == (b.size, a.size) == (a.size, b.size):
        raise ValueError(
            f"weights is square, {b.size} x {b.size}, so that the biases cannot tell its "
            "layout: expected layout='visible_hidden' (one row a visible unit) or "
            "layout='hidden_visible' (one row a hidden unit, as PyTorch's)"
        )
    turned = w.shape == (a.size, b.size) != (b.size, a.size)
    return w.T if layout == "hidden_visible" or (layout is None and turned) else w, b, a


def parameters(weights, visible_bias, hidden_bias, *, optional: bool = False):
    """Weights and biases, whose shapes fit each other; ``optional`` biases are zero if None."""
    meaning = "(n_visible, n_hidden), one row a visible unit"
    w = checks.array("weights", weights, (None, None), meaning)
    if not w.size:
        raise ValueError(f"weights has shape {w.shape}: expected units in both layers")
    biases = []
    for name, value, n in zip(PARAMETERS[1:], (visible_bias, hidden_bias), w.shape, strict=True):
        value = np.zeros(n) if optional and value is None else value
        meaning = f"({n},) (weights is {w.shape[0]} x {w.shape[1]}; is it transposed?)"
        biases.append(checks.array(name, value, (n,), meaning, flatten=True))
    return w, *biases


def listed(keys: list[str], most: int = 12) -> str:
    more = f", and {len(keys) - most} more" if len(keys) > most else ""
    return (", ".join(map(repr, keys[:most])) + more) if keys else "nothing"


def remedy(keys: list[str]) -> str:
    """How to say which is which, with three of the keys where there are as many."""
    example = dict(zip(PARAMETERS, [*map(str, keys[:3]), "...", "...", "..."], strict=False))
    return f"say which is which, for example names={example!r}"
