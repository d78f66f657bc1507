"""Wrong parameters, states and data of models: one clear error that names the argument."""

import re

import numpy as np
import pytest
from helpers_refusals import DATA, PATH, RAGGED, RBM, A, B, W, assert_refused, changed, named
from scipy.sparse import csr_array

import rbmlib as rl
from rbmlib import BernoulliRBM

SQUARE = np.arange(9.0).reshape(3, 3)
MASKED = np.ma.masked_equal(W * [1, 2, 3], 2)


def state(*arrays):
    return dict(zip(("W", "v_bias", "h_bias"), arrays, strict=True))


MODELS = {
    "NaN weights": (lambda: BernoulliRBM(changed(W, np.nan), B, A), "weights holds 1 NaN"),
    "infinite weights": (lambda: BernoulliRBM(W * np.inf, B, A), "weights holds 12 NaN or inf"),
    "NaN bias": (lambda: BernoulliRBM(W, changed(B, np.nan), A), "visible_bias"),
    "infinite bias": (lambda: BernoulliRBM(W, B, changed(A, -np.inf)), "hidden_bias"),
    "transposed": (lambda: BernoulliRBM(W.T, B, A), "visible_bias has shape"),
    "vector of weights": (lambda: BernoulliRBM(W[0], B, A), "weights has shape (3,)"),
    "stack of weights": (lambda: BernoulliRBM(W[None], B, A), "weights has shape (1, 4, 3)"),
    "words": (lambda: BernoulliRBM("h10", B, A), "weights is not an array"),
    "none": (lambda: BernoulliRBM(None, B, A), "weights"),
    "ragged weights": (lambda: BernoulliRBM(RAGGED, B, A), "weights is not an array"),
    "ragged bias": (lambda: BernoulliRBM(W, RAGGED, A), "visible_bias is not an array"),
    "complex weights": (
        lambda: BernoulliRBM(W * 1j, B, A),
        "weights holds complex numbers, those of a wave",
    ),
    "no units": (lambda: BernoulliRBM(np.zeros((0, 3)), [], A), "weights has shape (0, 3)"),
    "no bias": (lambda: BernoulliRBM(W, None, A), "visible_bias"),
    "log_scale": (lambda: BernoulliRBM(W, B, A, log_scale=np.nan), "log_scale"),
    "state": (lambda: rl.from_state_dict(state(W, B[:2], A)), "visible_bias has shape (2,)"),
    "state ragged": (lambda: rl.from_state_dict(state(RAGGED, B, A)), "weights"),
    "state square": (
        lambda: rl.from_state_dict(state(SQUARE, A, A)),
        "weights is square, 3 x 3, so that the biases cannot tell its layout: expected "
        "layout='visible_hidden' (one row a visible unit) or layout='hidden_visible' (one row a "
        "hidden unit, as PyTorch's)",
    ),
    "state layout": (
        lambda: rl.from_state_dict(state(W, B, A), layout="hv"),
        "layout is 'hv': expected one of 'visible_hidden', 'hidden_visible'",
    ),
    "state other layout": (
        lambda: rl.from_state_dict(state(W, B, A), layout="hidden_visible"),
        "visible_bias has shape (4,): expected (3,)",
    ),
    "state units": (
        lambda: rl.from_state_dict(state(W, B, A), units="spin"),
        "units is 'spin': expected one of 'bits', 'spins'",
    ),
    "state units within": (
        lambda: rl.from_state_dict(state(W, B, A) | {"units": 4}),
        "units is '4': expected one of 'bits', 'spins'",
    ),
    "sparse data": (
        lambda: rl.base_rate(csr_array(DATA)),
        "data is a sparse csr_array: expected (n_samples, n_visible); data.toarray() makes",
    ),
    "frozen unit": (
        lambda: BernoulliRBM(W, changed(B, -np.inf), A),
        "visible_bias holds 1 NaN or infinite value: expected finite numbers; did the training "
        "diverge? A bias of -1e4 freezes a unit",
    ),
    "masked weights": (lambda: BernoulliRBM(MASKED, B, A), "weights holds masked values"),
    "masked rows": (lambda: BernoulliRBM(list(MASKED), B, A), "weights holds masked values"),
    "masked states": (
        lambda: RBM.log_density(np.ma.masked_equal(DATA, 1)),
        "visible holds masked values: expected",
    ),
    "masked bias": (
        lambda: rl.LeakyRBM(W / 9, np.ma.masked_invalid(changed(B, np.nan))),
        "visible_bias holds masked values: expected",
    ),
    "from_sklearn": (lambda: BernoulliRBM.from_sklearn(3), "model has no components_"),
    "grey states": (lambda: RBM.log_density(np.full((2, 4), 0.5)), "visible holds values"),
    "NaN states": (
        lambda: RBM.log_density([[0, np.nan, 0, 0]]),
        "visible holds 1 NaN value, the first at [0, 1]: expected one of 0, 1",
    ),
    "3-d states": (lambda: RBM.log_density(np.zeros((2, 2, 4))), "visible has shape (2, 2, 4)"),
    "narrow states": (lambda: RBM.free_energy(np.zeros((2, 3))), "visible has shape (2, 3)"),
    "ragged states": (lambda: RBM.log_density(RAGGED), "visible is not an array"),
    "words as states": (lambda: RBM.log_density(["1010"]), "visible is not an array"),
    "wide data": (lambda: rl.log_likelihood(RBM, np.zeros((2, 5)), 1.0), "data has shape (2, 5)"),
    "NaN data": (lambda: rl.log_likelihood(RBM, DATA * np.nan, 1.0), "data holds 480 NaN"),
    "grey data": (
        lambda: rl.log_likelihood(RBM, DATA / 2, 1.0),
        "data holds values from 0.0 to 0.5: expected one of 0, 1; binarise",
    ),
    "wide real data": (
        lambda: rl.log_likelihood(rl.LeakyRBM(W / 9), np.zeros((2, 5)), 1.0),
        "data has shape (2, 5)",
    ),
    "NaN real data": (
        lambda: rl.log_likelihood(rl.LeakyRBM(W / 9), DATA * np.nan, 1.0),
        "data holds 480 NaN",
    ),
    "wide points": (
        lambda: rl.log_likelihood(rl.testsystems.two_gaussians(4), np.zeros((2, 5)), 1.0),
        "data has shape (2, 5)",
    ),
    "no model": (lambda: rl.log_likelihood(5, DATA, 1.0), "model is 5: expected a model"),
    "NaN log Z": (lambda: rl.log_likelihood(RBM, DATA, np.nan), "log_z holds 1 NaN"),
    "infinite log Z": (lambda: rl.log_likelihood(RBM, DATA, -np.inf), "log_z holds 1 NaN or inf"),
    "path for log Z": (lambda: rl.log_likelihood(RBM, DATA, PATH), "log_z is not an array"),
    "two log Z": (lambda: rl.log_likelihood(RBM, DATA, [1.0, 2.0]), "log_z has shape (2,)"),
    "save as text": (lambda: RBM.save("rbm.txt"), "path is 'rbm.txt'"),
}


@pytest.mark.parametrize(**named(model=MODELS))
def test_wrong_argument_is_named(call, name):
    assert_refused(call, name)


def test_refused_files_leave_nothing_behind(tmp_path):
    with pytest.raises(ValueError, match="path is"):
        RBM.save(tmp_path / "rbm.mat")
    assert list(tmp_path.iterdir()) == []


def test_a_single_array_is_refused_with_a_line_that_makes_a_model(tmp_path):
    W, b, a = np.ones((3, 2)), np.zeros(3), np.zeros(2)
    np.save(tmp_path / "weights.npy", W)
    with pytest.raises(ValueError, match=r"a \.npy holds one array") as caught:
        rl.load_rbm(tmp_path / "weights.npy")
    line = re.search(r"of three (rl\..*\)) makes a", str(caught.value))[1]
    assert eval(line, {"rl": rl, "W": W, "b": b, "a": a}).n_hidden == 2
