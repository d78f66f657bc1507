"""The words in which pages are written, against values by hand."""

import math
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from rbmbook import page
from rbmbook.judge import compare, statement
from rbmbook.measured import measured
from rbmbook.verdicts import CONTRADICTED

RUNS = pd.DataFrame(
    {
        "model": ["h20", "h10", "h10", "h20"],
        "base": ["uniform", "uniform", "base rate", "base rate"],
        "log_z": [3.0, 1.0, 2.5, 7.0],
        "std_error": [0.1, 0.2, 0.3, 0.4],
    }
)


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    plt.close("all")


def test_pick_keeps_rows_that_have_every_value_or_one_of_a_list():
    assert page.pick(RUNS, model="h10").log_z.tolist() == [1.0, 2.5]
    assert page.pick(RUNS, model=["h10", "h20"], base="uniform").log_z.tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"model": "h11"}, "no row has {'model': 'h11'}"),
        ({"modle": "h10"}, "no column modle: expected one of model, base"),
    ],
)
def test_pick_refuses_what_chooses_nothing(where, said):
    with pytest.raises(ValueError, match=said):
        page.pick(RUNS, **where)


def test_one_row_and_no_other_number_of_them():
    assert page.one(RUNS, model="h10", base="uniform").log_z == 1.0
    with pytest.raises(ValueError, match="2 rows have"):
        page.one(RUNS, model="h10")


def test_each_makes_a_row_of_a_group_in_the_order_of_sizes():
    made = page.each(RUNS, lambda m, b, g: {"model": m, "base": b, "n": len(g)}, by="model base")
    assert made.model.tolist() == ["h10", "h10", "h20", "h20"]
    assert made.n.tolist() == [1, 1, 1, 1]
    totals = page.each(RUNS, lambda m, g: {"model": m, "sum": g.log_z.sum()}, by="model")
    assert totals["sum"].tolist() == [3.5, 10.0]


def test_each_takes_lines_items_and_mappings():
    assert page.each(RUNS, lambda r: {"twice": 2 * r.log_z}).twice.tolist() == [6, 2, 5, 14]
    assert page.each([2, 3], lambda k: {"square": k * k}).square.tolist() == [4, 9]
    made = page.each({"a": 1, "b": 2}, lambda name, k: {"name": name, "k": k})
    assert made.name.tolist() == ["a", "b"]
    assert made.k.tolist() == [1, 2]


def test_numbers_with_errors():
    assert page.pm(1.0, 0.2) == "1.000 ± 0.200"
    assert page.pm(measured(1.0, 0.2)) == "1.000 ± 0.200"
    with pytest.raises(ValueError, match="scale 'log'"):
        page.pm(measured(1.0, 0.2, scale="log"))


def test_off_adds_the_error_of_a_reference():
    reference = SimpleNamespace(log_z=2.0, std_error=0.4)
    away = page.off(measured(2.5, 0.3, 9), reference)
    assert (away.value, away.freedom) == (0.5, 9)
    assert away.std_error == pytest.approx(0.5)
    assert page.off(measured(2.5, 0.3), 2.0).std_error == 0.3


def test_variance_and_ratio_on_the_scale_of_logarithms():
    top, bottom = page.log_variance([1.0, 3.0, 5.0]), page.log_variance([1.0, 2.0, 3.0])
    assert top.value == pytest.approx(math.log(4))
    assert top.std_error == pytest.approx(1.0)
    ratio = page.over(top, bottom)
    assert ratio.value == pytest.approx(math.log(4))
    assert ratio.std_error == pytest.approx(math.sqrt(2))
    assert ratio.freedom == pytest.approx(4)
    with pytest.raises(ValueError, match="expected 'log'"):
        page.over(measured(1.0, 0.1), bottom)


def test_checks_say_what_they_checked(capsys):
    page.checks({"all are positive": RUNS.log_z > 0, "four rows": len(RUNS) == 4})
    assert capsys.readouterr().out == "checked: all are positive; four rows\n"


def test_checks_name_each_sentence_that_does_not_hold():
    with pytest.raises(AssertionError, match=r"^large; false$"):
        page.checks({"large": RUNS.log_z > 2, "fine": True, "false": False})


def test_checks_of_nothing_are_refused():
    with pytest.raises(ValueError, match="nothing is checked: none"):
        page.checks({"fine": True, "none": np.array([]) > 0})


def test_table_shows_measured_and_verdicts_and_hides_columns():
    frame = RUNS.assign(ours=[measured(1.0, 0.2)] * 4)
    text = page.table(frame, "Runs.", hide="base, std_error", log_z=1).to_html()
    assert "1.000 ± 0.200" in text
    assert ">7.0<" in text
    assert "uniform" not in text
    with pytest.raises(ValueError, match="no column logz"):
        page.table(RUNS, "Runs.", logz=1)


def test_the_last_row_of_panels_is_as_long_as_its_items():
    axes = page.panels(range(5), lambda ax, key, item: None, xlabel="x", ylabel="nats")
    assert len(axes) == len(axes[0].figure.axes) == 5
    assert [ax.get_xlabel() for ax in axes] == ["", "", "x", "x", "x"]
    assert [ax.get_ylabel() for ax in axes] == ["nats", "", "", "nats", ""]
    assert [ax.get_title() for ax in axes] == list("01234")


def test_a_verdict_on_each_model_is_one_of_all():
    def judged(_, x):
        return statement("kiwaki-j-dominates", compare(x, "<", 2), reason="by hand")

    found = page.on_each({"a": 1, "b": 3}, judged)
    assert found.outcome == CONTRADICTED
    assert found.parts[1] == ("b", "3 < 2", CONTRADICTED, "by hand")
