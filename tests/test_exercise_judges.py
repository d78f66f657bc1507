"""What judges of exercises are made of, at the edges of what they allow; what a name is given."""

from importlib import import_module

import numpy as np
import pytest

from rbmbook import exercises
from rbmbook.exercises import checker
from rbmlib import schedules
from rbmlib.models import BernoulliRBM

# A student's models and numbers stay the same for ever: a sum of each, for the name "ada".
FOR_EVER = {
    ("start", "hills"): -79.2368291,
    ("start", "picture"): -0.0322260176,
    ("mcmc_basics", "laws"): -0.172879814,
    ("mcmc_basics", "chain"): 259.39702,
    ("mcmc_basics", "spread"): 3.6,
    ("ais", "reverse_r"): 18.9837931,
    ("ais", "hills"): -91.2894007,
    ("varopt", "spread"): 31.5867571,
    ("varopt", "steps"): 0.0361757378,
    ("rts", "walk"): -757.542915,
    ("rts", "rounds"): 45.5121967,
    ("rts_continuous", "turns"): 6,
    ("rts_continuous", "bold"): 0.86,
    ("sams", "ten_groups"): 19.4448537,
    ("tracking", "update"): -4.56025669,
    ("tracking", "filter"): 0.307821161,
    ("leaky_rbm", "unit"): 0.85249525,
    ("leaky_rbm", "layers"): 2045.85391,
    ("proteins", "letters"): -1.34330469,
    ("proteins", "report"): 31.1945088,
    ("proteins", "bits"): 50.0540302,
    ("", "model"): -5.11096749,
    ("", "base"): 0.674291603,
}


def numbers_in(thing) -> np.ndarray:
    """All numbers of what is given, one after another."""
    if isinstance(thing, BernoulliRBM):
        thing = (thing.weights, thing.visible_bias, thing.hidden_bias)
    if isinstance(thing, dict):
        thing = tuple(thing.values())
    if isinstance(thing, tuple):
        return np.concatenate([numbers_in(part) for part in thing])
    return np.ravel(np.asarray(thing, dtype=float))


def summed(thing) -> float:
    """A sum with another weight for each place."""
    found = numbers_in(thing)
    return float(found @ np.cos(np.arange(found.size)))


def all_given() -> dict:
    found = {}
    for lesson in checker.LESSONS:
        check = exercises.begin(lesson, "ada")
        module = import_module(f"rbmbook.exercises.{lesson}")
        for name in getattr(module, "GIVEN", {}):
            found[lesson, name] = summed(check.given(name))
    check = exercises.begin("ais", "ada")
    for name in ("model", "base"):
        found["", name] = summed(getattr(check, name))
    return found


def test_what_a_name_is_given_stays_the_same():
    found = all_given()
    assert found.keys() == FOR_EVER.keys()
    for key, value in FOR_EVER.items():
        assert found[key] == pytest.approx(value, rel=1e-6, abs=1e-9), key


def test_numbers_at_the_edge_of_what_is_allowed_count_as_near():
    checker.near(1.5, 1.0, 0.5)
    with pytest.raises(exercises.NotYet, match="twice"):
        checker.near(2.5, 1.0, 0.5, {"twice": 2.0})
    with pytest.raises(exercises.NotYet, match=r"^2\.75 is not it$"):
        checker.near(2.75, 1.0, 0.5, {"twice": 2.0})


def test_an_answer_of_another_shape_can_be_a_known_mistake():
    with pytest.raises(exercises.NotYet, match="turned"):
        checker.same([1.0, 2.0], [[1.0], [2.0]], {"turned": [1.0, 2.0]})
    with pytest.raises(exercises.NotYet, match=r"shape of your answer is \(2,\)"):
        checker.same([1.0, 2.0], [1.0, 2.0, 3.0], {"turned": [2.0, 1.0]})


@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_a_mean_may_be_so_many_standard_errors_off(scale):
    values = scale * np.random.default_rng(0).normal(size=400)
    error = np.sqrt(np.cov(values) / 400)
    for side in (-1, 1):
        checker.mean_is(values, values.mean() + 4.99 * side * error, "off")
        with pytest.raises(exercises.NotYet, match="off"):
            checker.mean_is(values, values.mean() + 5.01 * side * error, "off")


def test_a_count_may_be_so_many_standard_errors_off():
    """Twelve coins: the variance is 3, to which 1 is added, so that 8 heads are one error off."""
    codes = np.repeat([0, 1], [8, 4])
    checker.law_is(codes, [0.5, 0.5], "off", most=1.0)
    with pytest.raises(exercises.NotYet, match="off"):
        checker.law_is(codes, [0.5, 0.5], "off", most=0.99)
    with pytest.raises(exercises.NotYet, match="does not exist"):
        checker.law_is([0, 2], [0.5, 0.5], "off")


def test_half_of_the_singular_values_are_to_be_cut():
    asked = []

    def project(weights, largest):
        asked.append((np.linalg.svd(weights, compute_uv=False), largest))
        return weights

    exercises.begin("leaky_rbm", "ada").judge("project", project)
    sizes, largest = asked[0]
    assert largest == pytest.approx((sizes[1] + sizes[2]) / 2, rel=1e-12)


def test_the_gap_is_asked_for_at_three_variances():
    asked = []

    def gap(variance):
        asked.append(variance)
        return variance / 2

    check = exercises.begin("ais", "ada")
    assert check.judge("jensen_gap", gap) is None
    assert asked[0] > 0
    assert asked[1:] == [asked[0] + 1.7, 0.0]


def test_a_chain_that_stays_at_its_place_is_seen():
    def temper(m, b0, betas, guess, n_chains, n_sweeps, rng):
        k = rng.integers(0, len(betas), (n_sweeps, n_chains))
        k[:, 0] = 2
        return k, np.zeros(k.shape)

    hint = exercises.begin("line", "ada").judge("temper", temper)
    assert hint == "each chain must change its place"


@pytest.mark.parametrize(("spread", "said"), [(0.0, True), (1e-4, False)])
def test_weights_that_differ_a_little_are_not_called_equal(spread, said):
    check = exercises.begin("ais", "ada")

    def ais(m, b0, betas, n, rng):
        return check.own.log_z + spread * rng.normal(size=n)

    assert check.judge("ais", ais).startswith("all log-weights are equal") == said


def test_steps_below_the_cap_keep_their_proportions_to_more_than_a_half():
    """A fifth of the shortest step is given to the next: no step is too long, nor is the sum."""
    check = exercises.begin("varopt", "ada")

    def right(lengths, cap):
        return np.diff(schedules.decelerate(np.r_[0.0, np.cumsum(lengths)[:-1], 1.0], cap))

    def bent(lengths, cap):
        found = right(lengths, cap)
        one, two = np.argsort(found)[:2]
        moved = 0.2 * found[one]
        found[one] -= moved
        found[two] += moved
        return found

    assert check.judge("capped", right) is None
    assert "keep their proportions" in check.judge("capped", bent)
