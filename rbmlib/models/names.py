"""Which array of a file or a state dict is which parameter of an RBM: told by their names.

Names are compared without case, dots and underscores, and without prefixes such as "rbm.". What a
name leaves open is not guessed: "a" and "b" are the visible and the hidden bias of some programs,
and the reverse in others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .._validation import PARAMETERS

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


def find(keys: Iterable[str], *, strict: bool, what: str) -> Found:
    """The keys of weights and biases among ``keys``.

    Parameters
    ----------
    strict : bool
        Refuse keys that are none of the three (a parameter of another kind of model would be
        left out in silence).
    what : str
        What the keys belong to, for errors.

    Raises
    ------
    ValueError
        If one is missing or two could be it; it lists all keys, and what to do.
    """
    keys = list(keys)
    by_role: dict[str, list[str]] = {role: [] for role in PARAMETERS}
    vague: list[str] = []
    other: list[str] = []
    for key in keys:
        role = _role(key)
        if role:
            by_role[role].append(key)
        else:
            (vague if _last(key) in VAGUE else other).append(key)
    biases = by_role["visible_bias"], by_role["hidden_bias"]
    if not any(biases) and sorted(map(_last, vague)) == sorted(PAIR):
        for key in vague:
            by_role[PAIR[_last(key)]].append(key)
        vague = []
    elif len(vague) == 1 and sum(map(bool, biases)) == 1:
        biases[0 if not biases[0] else 1].append(vague.pop())
    trouble = [f"no {role}" for role, found in by_role.items() if not found]
    trouble += [f"{' and '.join(map(repr, found))} could be {role}"
                for role, found in by_role.items() if len(found) > 1]  # fmt: skip
    if vague:
        trouble.append(f"{' and '.join(map(repr, vague))} could be either bias")
    if other and strict:
        trouble.append(f"{', '.join(map(repr, other))} unknown")
    if not any(by_role.values()) and not vague:
        raise ValueError(
            f"{what} holds no RBM, but {listed(keys)}: expected {', '.join(PARAMETERS)}, or the "
            f"names of another program; {remedy(keys)}"
        )
    if trouble:
        raise ValueError(f"{what} holds {listed(keys)}: {'; '.join(trouble)}; {remedy(keys)}")
    chosen = {role: found[0] for role, found in by_role.items()}
    return Found(chosen, KNOWN_LAYOUT.get(_last(chosen["weights"])))


def chosen(names: Mapping, keys: Iterable[str], what: str) -> Found:
    """The keys that an argument ``names`` gives, checked."""
    keys = list(keys)
    if not isinstance(names, Mapping) or set(names) != set(PARAMETERS):
        came = sorted(map(str, names)) if isinstance(names, Mapping) else type(names).__name__
        raise ValueError(
            f"names is {came}: expected a dict of weights, visible_bias, hidden_bias, such as "
            "names={'weights': 'W', 'visible_bias': 'b', 'hidden_bias': 'c'}"
        )
    absent = [name for name in names.values() if name not in keys]
    if absent:
        raise ValueError(f"names asks for {', '.join(map(repr, absent))}, but {what} holds "
                         f"{listed(keys)}")  # fmt: skip
    if len(set(names.values())) < len(PARAMETERS):
        raise ValueError(f"names is {dict(names)!r}: expected three different keys")
    return Found(dict(names), None)


def listed(keys: list[str], most: int = 12) -> str:
    more = f", and {len(keys) - most} more" if len(keys) > most else ""
    return (", ".join(map(repr, keys[:most])) + more) if keys else "nothing"


def remedy(keys: list[str]) -> str:
    """How to say which is which, with three of the keys where there are as many."""
    example = dict(zip(PARAMETERS, [*map(str, keys[:3]), "...", "...", "..."], strict=False))
    return f"say which is which, for example names={example!r}"
