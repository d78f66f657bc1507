"""Wrong arguments of the chapter's leaky recursions: an error that names the argument."""

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
}


@pytest.mark.parametrize(**named(leaky=LEAKY))
def test_wrong_argument_is_named(call, name):
    assert_refused(call, name)
