"""The papers' figures drawn anew: each claim is on its figure once, each point a stored number."""

import re
import sys

import pytest
from helpers_book import BOOK

sys.path.insert(0, str(BOOK / "_ext"))

import notes_page
import redrawn
import redrawn_data

from rbmbook import load_reference
from rbmbook.claims import claims
from rbmbook.verdicts import REPRODUCED, SYMBOLS
from rbmlib import datasets

FIGURES = redrawn_data.figures()
EVERY = {
    v.name: (v, path.stem)
    for path in notes_page.chapters(BOOK)
    for v in notes_page.verdicts_in(path)
}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda f: f"{f.source} {f.title}")
def test_every_claim_of_a_figure_is_on_it_once(figure):
    number = figure.title.lower()
    of_it = {
        c.name for c in claims().values() if (c.source, c.place) == (figure.source, number)
    } or {"kiwaki-f5-small-k", "kiwaki-f5-large-k"}  # the text speaks of figure 5
    marks = [name for panel in figure.panels for name in panel.marks]
    assert sorted(marks) == sorted(of_it)
    pins = re.findall(r'<a class="v-pin [^"]*" href="#([^"]*)"', redrawn.block(figure, EVERY))
    assert sorted(pins) == sorted(marks)


def test_a_mark_is_at_a_point_of_its_curve():
    for panel in (panel for figure in FIGURES for panel in figure.panels):
        for name, (on, at) in panel.marks.items():
            assert at in next(c.points for c in panel.curves if c.name == on), name


def panel_of(title, index, source="Carlson"):
    return next(f for f in FIGURES if (f.source, f.title) == (source, title)).panels[index]


def curve(panel, name):
    return next(c for c in panel.curves if c.name == name)


def test_points_are_the_stored_numbers():
    """Read anew with pandas, not by the functions that drew them."""
    import pandas as pd

    def stored(name):
        return pd.read_csv(datasets.committed(f"results/{name}.csv"))

    references = load_reference()
    runs = stored("rts_sweeps").query("model == 'cd25_500' and starting == 'pilot'")
    off = (runs["log_z"] - references["cd25_500"].log_z).groupby(runs["n_sweeps"])
    assert curve(panel_of("Figure 3", 0), "RTS").points == pytest.approx(dict(off.mean()))
    squared = off.apply(lambda e: (e**2).mean() ** 0.5)
    assert curve(panel_of("Figure 3", 1), "RTS").points == pytest.approx(dict(squared))
    along = stored("varopt_curves").query("model == 'pcd_20' and base == 'base rate'")
    linear = along.query("schedule == 'linear'").set_index("n_temperatures")
    shown = curve(panel_of("Figure 3", 0, "Kiwaki"), "LINEAR").points
    assert {k: shown[k] for k in linear.index} == pytest.approx(dict(linear["ess"]))
    looks = stored("varopt_on_the_way").query(
        "base == 'own biases' and schedule == 'linear' and n_temperatures == 1000"
    )
    early = curve(panel_of("Figure 4", 0, "Kiwaki"), "LINEAR").points
    assert early[0.1] == looks["ess_2"].item()
    assert early[1.0] == looks["ess_20"].item()
    uniform = stored("rts_uniform").query("estimator == 'rts' and starting == 'pilot'")
    trips = uniform.groupby("n_sweeps")["round_trips"].mean()
    assert curve(panel_of("Figure 7", 2), "uniform").points == pytest.approx(dict(trips))


def test_a_point_is_drawn_to_scale():
    axis = redrawn.Axis([1.0, 100.0], 0, 110, logarithmic=True)
    assert [axis(v) for v in (1.0, 10.0, 100.0)] == [5.0, 55.0, 105.0]
    assert axis.ticks() == [1, 10, 100]
    assert redrawn.Axis([0.0, 1000.0], 0, 110, logarithmic=False).ticks() == [0, 500, 1000]


def test_another_verdict_is_another_mark():
    figure = next(f for f in FIGURES if f.title == "Figure 8")
    name = "carlson-f8-10-sd"
    changed = EVERY | {name: (EVERY[name][0]._replace(outcome=REPRODUCED), "rts_audit")}
    stored = EVERY[name][0].outcome
    assert stored != REPRODUCED
    for found, outcome in ((EVERY, stored), (changed, REPRODUCED)):
        kind = SYMBOLS[outcome][1]
        assert f'class="v-pin v-{kind}" href="#{name}"' in redrawn.block(figure, found)


def test_marks_of_a_panel_do_not_cover_one_another():
    taken = []
    for _ in range(4):
        taken.append(redrawn._free((200.0, 100.0), taken, [(200.0, 100.0)]))
    gaps = [redrawn.math.dist(a, b) for i, a in enumerate(taken) for b in taken[:i]]
    assert min(gaps) >= redrawn.PIN
