"""Paths and transitions of models with Gaussian visible units."""

import numba
import numpy as np
import pytest
from helpers_models import on_threads
from helpers_stats import all_states, assert_no_rejection, log_sum, z_score
from scipy import special, stats

import rbmlib as rl
from rbmbook import experiments as tasks
from rbmbook.li2016 import moves
from rbmbook.li2016.diagonal import normal_lanes
from rbmbook.li2016.moves import MOVES, blockwise, elliptical_slice, exact_draws
from rbmbook.sweeps import ESTIMATES, Sweep
from rbmlib import EnergyPath, GaussianRBM, GeometricPath, LeakinessPath, LeakyRBM
from rbmlib._kernels import simd
from rbmlib.numerics import ChainStream
from rbmlib.sampling import anneal, sweep

EXACT = sorted(set(MOVES) - {"gibbs"})
RNG = np.random.default_rng(5)
BASIS = np.linalg.qr(RNG.normal(size=(12, 4)))[0]
PLAIN = LeakyRBM(0.9 * BASIS)  # the paper's Table 1, smaller
BIASED = LeakyRBM(BASIS * [0.9, 0.8, 0.7, 0.6], RNG.normal(size=12) * 0.3, [0.3, -0.5, 0.2, -0.1],
                  leakiness=0.1)  # fmt: skip
SLANTED = LeakyRBM(0.25 * RNG.normal(size=(6, 3)), RNG.normal(size=6) * 0.3, [0.3, -0.5, 0.2],
                   leakiness=0.05)  # fmt: skip
GAUSSIAN = GaussianRBM(0.5 * RNG.normal(size=(8, 5)), RNG.normal(size=8) * 0.3, RNG.normal(size=5))
PATHS = [LeakinessPath(BIASED), LeakinessPath(SLANTED), EnergyPath(BIASED), EnergyPath(SLANTED),
         GeometricPath(GAUSSIAN)]  # fmt: skip
NAMES = [f"{type(p).__name__}-{p.rbm.n_visible}" for p in PATHS]
BETAS = np.array([0.0, 0.3, 1.0])


def negative_squares(x) -> np.ndarray:
    """Sum of x_j^2 / 2 over x_j <= 0: (n_chains,)."""
    return (np.minimum(x, 0) ** 2).sum(axis=1) / 2


def gaussian_log_z(rbm) -> float:
    """Sum over hidden states of the mass of their Gaussians."""
    h = all_states(rbm.n_hidden)
    mean = rbm.visible_bias + h @ rbm.weights.T
    mass = h @ rbm.hidden_bias + (mean**2).sum(axis=1) / 2
    return log_sum(mass) + rbm.n_visible / 2 * np.log(2 * np.pi) + rbm.log_scale


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_path_ends_at_its_model(path):
    u = path.sample_base(20, np.random.default_rng(0))
    wanted = path.rbm.reduced()[0].log_density(u)
    np.testing.assert_allclose(path.at(1.0).log_density(u), wanted)


@pytest.mark.parametrize("path", PATHS[:4], ids=NAMES[:4])
def test_joint_log_density_is_linear_in_beta(path):
    state, slope = path.joint_transition(
        path.sample_base(20, np.random.default_rng(0)), 0.4, np.random.default_rng(1)
    )
    logs = path.log_density(state, BETAS)
    assert np.allclose(logs, logs[:, :1] + np.outer(slope, BETAS))


def test_leakiness_path_is_the_geometric_path_from_its_gaussian():
    """Appendix D (eq. 12): energy annealed from the Gaussian of leakiness 1."""
    path, v = LeakinessPath(SLANTED), RNG.normal(size=(30, 3))
    one = path.at(0.0).log_density(v)
    for beta in (0.2, 0.7):
        mixed = (1 - beta) * one + beta * path.at(1.0).log_density(v)
        assert np.allclose(path.at(beta).log_density(v), mixed)


# transitions --------------------------------------------------------------------------------


def draws_of(rbm, small, n, seed):
    """Exact ones of the model on the span of the weights: by rejection if these are slanted."""
    if rbm is SLANTED:
        return exact_draws(small, n, np.random.default_rng(seed))
    return small.exact_samples(n, seed)


def moved(rbm, kernel, n_chains, n_sweeps=16):
    """Exact draws on the span of the weights, before and after some sweeps."""
    small = rbm.reduced()[0]
    before = u = draws_of(rbm, small, n_chains, 0)
    stream = ChainStream(1, n_chains)
    for _ in range(n_sweeps):
        u = MOVES[kernel](small, u, stream)
    return small, before, u


def change_of_negative_squares(rbm, kernel, n_chains=30_000):
    """Change of E[eta^2 / 2; eta <= 0] in standard errors: the slope that AIS adds up."""
    small, before, after = moved(rbm, kernel, n_chains)
    change = np.subtract(*(negative_squares(small.field(u)) for u in (after, before)))
    return z_score(change, 0.0)


def laws_of_fields(rbm, kernel, n_chains=60_000):
    """p-values of the laws of the hidden fields after the sweeps against other exact draws."""
    small, _, after = moved(rbm, kernel, n_chains)
    fresh = draws_of(rbm, small, 4 * n_chains, 2)
    one, two = (small.field(u) for u in (after, fresh))
    if rbm is PLAIN:  # all fields have one law, and are independent
        return [stats.ks_2samp(one.ravel(), two.ravel()).pvalue]
    return [stats.ks_2samp(one[:, j], two[:, j]).pvalue for j in range(rbm.n_hidden)]


@pytest.mark.parametrize("kernel", EXACT)
@pytest.mark.parametrize("rbm", [PLAIN, BIASED, SLANTED], ids=["plain", "biased", "slanted"])
def test_exact_kernels_leave_the_model_invariant(rbm, kernel):
    if kernel == "blockwise" and rbm is SLANTED:
        pytest.skip("needs orthogonal columns")
    assert abs(change_of_negative_squares(rbm, kernel)) < 4.5
    assert_no_rejection(laws_of_fields(rbm, kernel), "laws of fields", level=1e-5)


def test_published_kernel_does_not():
    assert change_of_negative_squares(PLAIN, "gibbs") > 6
    assert min(laws_of_fields(PLAIN, "gibbs")) < 1e-20
    with_one = PLAIN.with_leakiness(1.0)
    assert abs(change_of_negative_squares(with_one, "gibbs")) < 4.5  # at c = 1 it is exact


def test_invariance_is_seen_to_be_broken(monkeypatch):
    """What the tests above would say of an accept step the wrong way round, or of a wide prior."""
    move, gaussian = moves._proposal, moves.gaussian
    with monkeypatch.context() as patch:
        patch.setattr(moves, "_proposal", lambda *a: (move(*a)[0], -move(*a)[1]))
        assert min(laws_of_fields(PLAIN, "blockwise")) < 1e-20
    with monkeypatch.context() as patch:
        wide = lambda *a: (gaussian(*a)[0], 1.05 * gaussian(*a)[1])  # noqa: E731
        patch.setattr(moves, "gaussian", wide)
        assert min(laws_of_fields(PLAIN, "slice")) < 1e-8


@pytest.mark.parametrize("kind", [LeakinessPath, EnergyPath])
def test_a_kernel_may_be_a_function_of_the_model(kind):
    """And is given the model at each chain's own beta."""

    def still(model, v, rng):
        seen.append(model.hidden.below)
        return v

    seen, path, betas = [], kind(SLANTED, still), np.linspace(0, 1, 30)
    assert repr(path).endswith("kernel=still)")
    path.transition(path.sample_base(30, np.random.default_rng(0)), betas, ChainStream(1, 30))
    wanted = [path.at(b).hidden.below for b in betas]
    np.testing.assert_allclose(np.ravel(seen[0]), wanted)


def test_slice_sampling_moves_all_chains():
    path = LeakinessPath(SLANTED, elliptical_slice)
    state = path.sample_base(500, np.random.default_rng(0))
    moved = path.transition(state, 1.0, ChainStream(0, 500))
    assert (moved != state).all()


# estimators ---------------------------------------------------------------------------------


def reference(path) -> float:
    if isinstance(path.rbm, GaussianRBM):
        return gaussian_log_z(path.rbm)
    return path.rbm.exact_log_z()


RUN_ON = [
    LeakinessPath(BIASED, elliptical_slice),
    LeakinessPath(BIASED, blockwise),
    EnergyPath(BIASED),
    GeometricPath(GAUSSIAN),
]


@pytest.mark.parametrize("path", RUN_ON, ids=["slice", "blockwise", "energy", "gaussian"])
def test_every_estimator_runs_unchanged(path):
    linear, ladder = rl.schedules.linear(60), rl.schedules.linear(9)
    pilot = rl.ais(path, linear, 100, 1, keep_chains=True)
    runs = [
        rl.ais(path, linear, 400, 0),
        rl.ais(path, rl.schedules.varopt(pilot, 60), 400, 2),
        rl.reverse_ais(path, linear, 400, 0, n_burn_in=50),
        rl.bar(path, linear, 400, 0, n_burn_in=50),
        rl.rts(path, ladder, 40, 400, 0),
        rl.ti(path, ladder, 40, 400, 0, rule="corrected"),
        rl.mbar(path, ladder, 40, 200, 0),
    ]
    for run in runs:
        assert abs(run.log_z - reference(path)) < 5 * run.std_error, run.method
    parallel = rl.parallel_tempering(path, ladder, 4, 50, 0)
    assert parallel.swap_rates.min() > 0.2


def test_ais_with_the_published_kernel_is_biased_and_with_exact_ones_is_not():
    rbm = LeakyRBM(0.9 * np.linalg.qr(RNG.normal(size=(3072, 20)))[0])
    betas = rl.schedules.linear(200)
    z = {}
    for kernel in ("gibbs", "blockwise"):
        run = rl.ais(LeakinessPath(rbm, MOVES[kernel]), betas, 4000, 0)
        z[kernel] = (run.log_z - rbm.exact_log_z()) / run.std_error
    assert abs(z["blockwise"]) < 4.5
    assert z["gibbs"] < -6


@pytest.mark.parametrize("kernel", ["gibbs", "blockwise"])
@pytest.mark.parametrize("kind", [LeakinessPath, EnergyPath])
def test_compiled_annealing_is_the_generic_one(kind, kernel):
    """To single precision: a lost digit moves a chain by less than 1e-5."""
    betas, ends = rl.schedules.linear(30), []
    for compiled in (True, False):
        path = kind(BIASED, MOVES[kernel])
        if not compiled:
            path._loops = None
        stream, seen = ChainStream(3, 130), []
        state, log_weights = anneal(
            path,
            path.sample_base(130, stream),
            betas,
            stream,
            {7, 30},
            lambda k, s, w, seen=seen: seen.append((k, s.sum(), w.sum())),
        )
        ends.append((state, log_weights, seen, stream.draw))
    for one, two in zip(*ends, strict=True):
        assert np.allclose(one, two, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", MOVES)
def test_a_beta_that_rounds_below_zero_is_the_base(kernel):
    """The fields go as the root of beta; differences may be taken a little beyond the ends."""
    path = EnergyPath(BIASED, MOVES[kernel])
    moved = [sweep(path, path.sample_base(20, ChainStream(1, 20)), beta, 2, ChainStream(2, 20))
             for beta in (0.0, -5e-248)]  # fmt: skip
    np.testing.assert_array_equal(moved[1], moved[0])
    assert np.isfinite(moved[0]).all()


def test_compiled_annealing_does_not_depend_on_threads():
    path, betas = LeakinessPath(BIASED, blockwise), rl.schedules.linear(20)
    one, two = (on_threads(n, rl.ais, path, betas, 300, 0) for n in (1, 2))
    assert (one.log_weights == two.log_weights).all()


@numba.njit
def normals_of_all(r, out):
    """Normals of 31-bit integers, of whole lanes."""
    for i in range(0, r.size, simd.LANES):
        simd.store(out, i, normal_lanes(simd.load(r, i)))


def test_normals_of_the_compiled_kernel():
    rng = np.random.default_rng(0)
    ends = np.arange(1 << 12)
    r = np.concatenate(
        [ends, 2**31 - 1 - ends, 2**30 + ends - 2048, rng.integers(2**31, size=1 << 20)]
    )
    found = np.empty(r.size, np.float32)
    normals_of_all(r.astype(np.uint32), found)
    wanted = special.ndtri((r + 0.5) / 2**31)
    error = np.abs(found - wanted)
    near = np.abs(wanted) < 5
    assert error[near].max() < 3e-6
    assert error.max() < 2e-3
    assert (found[: 1 << 12] == -found[1 << 12 : 1 << 13]).all()


def test_exact_log_z_and_samples_by_their_usual_names():
    assert rl.exact(BIASED).log_z == BIASED.exact_log_z()
    assert (rl.sample(BIASED, 5, 0).states == BIASED.exact_samples(5, 0)).all()
    with pytest.raises(ValueError, match="columns that are not orthogonal: exact samples"):
        rl.sample(SLANTED, 5, 0).states
    path = LeakinessPath(BIASED)
    run = rl.reverse_ais(path, rl.schedules.linear(40), 200, 0, start="exact")
    assert run.settings["start"] == "exact samples"
    assert abs(run.log_z - BIASED.exact_log_z()) < 4.5 * run.std_error


def test_a_sweep_can_name_a_leaky_model():
    task = {"model": "orthogonal 5", "path": "leakiness", "kernel": "slice", "n_temperatures": 40,
            "n_chains": 200, "seed": 1}  # fmt: skip
    row = Sweep([task], ESTIMATES).tasks.popitem()[1]
    found = tasks.estimate(**row)
    assert abs(found["log_z"] - 2825.4803711) < 4.5 * found["std_error"]
    with pytest.raises(ValueError, match="kernel is missing"):
        ESTIMATES.check({k: v for k, v in task.items() if k != "kernel"})


def test_errors():
    with pytest.raises(ValueError, match="kernel is 'slices': expected one of"):
        LeakinessPath(BIASED, kernel="slices")
    with pytest.raises(ValueError, match="kernel is 'blockwise', but the columns"):
        moves.move_of("blockwise", SLANTED)
    with pytest.raises(TypeError, match="rbm is a GaussianRBM: expected a LeakyRBM"):
        LeakinessPath(GAUSSIAN)
    with pytest.raises(TypeError, match="rbm is a LeakyRBM"):
        rl.GeometricPath(PLAIN)
