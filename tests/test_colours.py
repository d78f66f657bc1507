"""One colour a method: dark enough on white, and told apart by a colour-blind reader too."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from rbmbook import plots

# Linear RGB as seen without green or red cones (Machado, Oliveira and Fernandes 2009, severity 1).
NO_GREEN = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]])  # fmt: skip
NO_RED = np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]])  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast_with_white(colour) -> float:
    return 1.05 / (TO_XYZ[1] @ linear(colour) + 0.05)


def lab(colour, eye) -> np.ndarray:
    xyz = TO_XYZ @ np.clip(eye @ linear(colour), 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("name", plots.METHOD_COLOURS)
def test_colours_show_on_white(name):
    assert contrast_with_white(plots.METHOD_COLOURS[name]) >= 3


def confused(looks: dict, limit: float = 12.0) -> list[tuple[str, str]]:
    """Pairs that some eye cannot tell by colour, nor by marker and line."""
    pairs = []
    for (a, first), (b, second) in combinations(looks.items(), 2):
        alike = [
            np.linalg.norm(lab(first[0], eye) - lab(second[0], eye)) < limit
            for eye in (np.eye(3), NO_GREEN, NO_RED)
        ]
        if any(alike) and (first[1] == second[1] or first[2] == second[2]):
            pairs.append((a, b))
    return pairs


# What stands in one figure; TAP is the name of TAP2 where there is no third order.
TOGETHER = {
    "methods": ["exact", "published", "AIS", "reverse AIS", "BAR", "MBAR", "RTS", "TI", "TI-RB",
                "SAMS", "Wang-Landau", "TAP", "parallel tempering", "counts"],
    "compared": ["AIS", "linear", "BAR", "SMC", "RTS", "MBAR", "TI", "SAMS", "Wang-Landau",
                 "parallel tempering", "NRPT", "log_z"],
    "two phases": ["AIS", "BAR", "SMC", "RTS", "SAMS", "NRPT", "log_z", "multicanonical"],
    "annealing": ["AIS", "reverse AIS", "RAISE", "Jarzynski", "BAR", "RTS"],
    "expansions": ["mean field", "TAP2", "TAP3", "exact"],
    "schedules": ["linear", "VAROPT", "capped VAROPT", "friction", "GMS13", "equal acceptance"],
    "bases": ["base rate", "own biases", "uniform", "mean-field base"],
    "along a training": ["exact", "RTS", "Jarzynski", "AIS", "trajectory", "mean field"],
    "training": ["CD-1", "CD-25", "PCD"],
}  # fmt: skip


@pytest.mark.parametrize("figure", TOGETHER)
def test_methods_of_one_figure_are_told_apart(figure):
    looks = {
        name: tuple(plots.method(name).get(k, "") for k in ("color", "marker", "linestyle"))
        for name in TOGETHER[figure]
    }
    assert not confused(looks)


def test_every_method_stands_in_some_figure():
    assert {name for names in TOGETHER.values() for name in names} == set(plots.METHOD_COLOURS)


def test_what_counts_as_confused():
    assert confused({"a": ("#c55a11", "o", "-"), "b": ("#2e7d32", "o", "-")})
    assert confused({"a": ("#0b5394", "o", "-"), "b": ("#0b5394", "s", "-")})
    assert not confused({"a": ("#0b5394", "o", "-"), "b": ("#0b5394", "s", "--")})
    assert not confused({"a": ("#0b5394", "o", "-"), "b": ("#c55a11", "o", "-")})


def test_an_unknown_method_is_refused_by_name():
    with pytest.raises(ValueError, match=r"no colour for 'AISS': expected one of exact"):
        plots.method("AISS")
