"""The front pages: their numbers come from stored results, and their sentences hold."""

import sys

import pytest
from helpers_book import BOOK

sys.path.insert(0, str(BOOK / "_ext"))

import front

PAGES = ["intro", "which"]


@pytest.fixture(scope="module")
def facts():
    return front.facts()


def test_every_number_is_known_and_used(facts):
    texts = "".join((BOOK / f"{page}.md").read_text(encoding="utf-8") for page in PAGES)
    assert set(front.MARK.findall(texts)) == set(facts)
    assert "@@" not in front.filled(texts)


def test_an_unknown_number_stops_the_build():
    with pytest.raises(KeyError, match="no_such"):
        front.filled("@@no_such@@")


def test_settings_without_rows_are_refused():
    with pytest.raises(LookupError, match="no row"):
        front.rows("exact", model="h21")


def test_runs_that_missed_a_mode_agree_with_one_another(facts):
    """The landing page: about half of the runs, and their spread is small beside their error."""
    missed, runs = int(facts["h20_missed"]), int(facts["h20_runs"])
    assert 0.4 < missed / runs < 0.6
    assert float(facts["h20_spread"]) < 0.1 * float(facts["h20_gap"])
    assert facts["h20_good"] == "100%"


def test_tempering_wins_on_two_models_and_not_on_the_third():
    errors = {m: {name: front.rmse_of(name, m) for name in front.SAMPLERS} for m in front.MODELS}
    for model in ("pcd_10", "pcd_200"):
        assert min(errors[model], key=errors[model].get) == "RTS"
        assert errors[model]["AIS"] > 2 * errors[model]["RTS"]
    assert min(errors["cd25_500"], key=errors["cd25_500"].get) != "RTS"


def test_each_method_has_twenty_runs_of_equal_cost():
    for method, (estimator, sampler) in front.SAMPLERS.items():
        for model in front.MODELS:
            runs = front.rows("rts_tempered", model=model, estimator=estimator)
            runs = runs[runs["sampler"] == sampler] if sampler else runs
            runs = runs[runs["n_temperatures"] < 100_000]
            assert len(runs) == 20, (method, model)


def test_forward_and_reverse_meet_with_many_steps_only():
    for steps, meet in ((100_000, True), (10_000, False)):
        low, high = front.bracket("h500", steps)
        error = (low["std_error"] ** 2 + high["std_error"] ** 2) ** 0.5
        assert (abs(low["log_z"] - high["log_z"]) < 3 * error) == meet


def test_friction_has_the_larger_effective_sample_size():
    assert front.ess_of("friction") > 2 * front.ess_of("varopt") > 2 * front.ess_of("linear")


def test_figure_is_drawn(tmp_path):
    front.draw(tmp_path / "front.png")
    assert (tmp_path / "front.png").stat().st_size > 10_000
