"""Wrong arguments of the chapter's leaky recursions: an error that names the argument."""

import numpy as np
import pytest
from helpers_refusals import BETAS, assert_refused, named

from rbmbook import leaky_bias

LEAKY = {
    "name of moves": (
        lambda: leaky_bias.annealed_bias(0.9, 0.1, BETAS, "leakines"),
        "moves is 'leakines': expected 'leakiness', 'energy' or a function",
    ),
    "number as moves": (
        lambda: leaky_bias.annealed_bias(0.9, 0.1, BETAS, 3),
        "moves is 3: expected 'leakiness', 'energy' or a function",
    ),
    "moves of a line": (lambda: leaky_bias.linear_bias(0.9, 0.1, 9, "energi"), "moves is"),
    "falling betas": (lambda: leaky_bias.annealed_bias(0.9, 0.1, [1, 0]), "betas runs from"),
    "steps": (lambda: leaky_bias.linear_bias(0.9, 0.1, -5), "n_steps is -5"),
    "order of weights": (
        lambda: leaky_bias.annealed_bias(0.9, 0.1, BETAS, weigh_first="no"),
        "weigh_first is a str",
    ),
    "long column": (lambda: leaky_bias.unit_log_z(1.5, 0.1), "norm is 1.5"),
    "leaks more": (lambda: leaky_bias.unit_log_z(0.9, -1.0), "leakiness is -1.0"),
    "nodes": (lambda: leaky_bias.nodes(np.nan), "norm is nan"),
    "leaks back": (lambda: leaky_bias.stationary_law(0.9, 1.5), "leakiness is 1.5"),
    "law of NaN": (lambda: leaky_bias.stationary_law(np.nan, 0.1), "norm is nan"),
    "points": (lambda: leaky_bias.slow_bias(0.9, 0.1, n_points=0), "n_points is 0"),
}


@pytest.mark.parametrize(**named(leaky=LEAKY))
def test_wrong_argument_is_named(call, name):
    assert_refused(call, name)
