"""The Check page and the frame of the site, from their sources: layouts, numbers, entries."""

import base64
import doctest
import io
import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from docutils import nodes
from docutils.utils import new_document
from helpers_book import BOOK, REPOSITORY
from PIL import Image

sys.path.insert(0, str(BOOK / "_ext"))

import check_entry
import check_layout
import check_numbers
import check_page
import figures
import frame
import models_page
import notes_page
import parameters_page

import book
from rbmbook import load_reference
from rbmbook.claims import claims
from rbmbook.verdicts import CONTRADICTED, NO_RUN, NOT_DECIDED, Verdict

TABLES = check_layout.tables()
CELLS = [name for table in TABLES for _, cells in table.rows for name in cells if name]


def verdict(**changes) -> Verdict:
    usual = {
        "name": "wang-ais-h20-logz", "source": "Wang", "place": "section IV.B, table",
        "claim": "log Z of h20 by AIS", "paper": "218.23", "ours": "208.3561 ± 0.67112",
        "effect": -9.874, "low": -14.17, "high": -5.581, "unit": "nats",
        "outcome": CONTRADICTED, "note": "margin ±5.15: what the printed spread resolves",
        "intervals": 1,
    }  # fmt: skip
    return Verdict(**usual | changes)


# ---------------------------------------------------------------- layouts


def test_every_cell_is_a_claim_of_its_source_once():
    wrong = [
        name
        for table in TABLES
        for _, cells in table.rows
        for name in cells
        if name and claims()[name].source != table.source
    ]
    assert not wrong
    assert len(CELLS) == len(set(CELLS)) > 140


def test_rows_are_as_long_as_the_head():
    for table in TABLES:
        assert {len(cells) for _, cells in table.rows} == {len(table.columns) - 1}, table.title
        assert sum(n for _, n in table.groups) in (0, len(table.columns) - 1)


def test_numbers_of_printed_tables_are_all_in_them():
    """A claim whose place is a table and that prints a number stands in a cell."""
    numbers = re.compile(r"-?[\d.]+(e-?\d+)?")
    listed = [
        c.name
        for c in claims().values()
        if re.search(r"\btable\b", c.place, re.IGNORECASE) and numbers.fullmatch(c.printed)
    ]
    assert set(listed) - set(CELLS) == set()


@pytest.mark.parametrize("number", [1, 2])
def test_kiwakis_cells_stand_where_the_paper_prints_them(number):
    """Against the transcription of the table by model and schedule."""
    printed = pd.read_csv(REPOSITORY / "data" / "published" / f"varopt_table{number}.csv")
    table = next(t for t in TABLES if (t.source, t.title) == ("Kiwaki", f"Table {number}"))
    width = (len(table.columns) - 1) // len(table.groups)
    for schedule, cells in table.rows:
        for i, (model, _) in enumerate(table.groups):
            at = (printed.model == model) & (printed.schedule == schedule)
            names = cells[width * i : width * (i + 1)][-2:]
            found = [float(claims()[name].printed) for name in names]
            assert found == printed.loc[at, ["logz_hat", "ess"]].to_numpy()[0].tolist()


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("module", [check_numbers], ids=lambda m: m.__name__)
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_cases_are_read_from_words():
    several = check_numbers.cases(verdict(ours="h10: 1.5 [−2, ∞] nats; h20: −0.25 [−0.5, 0] nats"))
    assert several[0] == ("h10", 1.5, -2, float("inf"), "nats")
    assert several[1] == ("h20", -0.25, -0.5, 0, "nats")
    assert check_numbers.cases(verdict()) == []


def test_our_ess_is_of_a_thousand_chains():
    ess = check_numbers.our_ess()
    assert set(ess) <= set(claims())
    for intervals in ess.values():
        for interval, _ in intervals:
            assert interval.low <= interval.value <= interval.high <= 1100
    ran = {n for intervals in ess.values() for _, n in intervals}
    assert ran == {100, 1000}, "runs of both sizes, or nothing is scaled"


def test_an_ess_of_fewer_chains_is_that_share_of_a_thousand():
    row = {"base": "uniform", "ess": "40", "ess_low": "30", "ess_high": "45", "n_chains": "100"}
    assert check_numbers._of_thousand(row) == ("uniform", 400, 300, 450, "")
    assert check_numbers._of_thousand(row | {"n_chains": "1000"})[1:4] == (40, 30, 45)


def test_margins_from_notes():
    assert check_numbers.margin(verdict()) == (-5.15, 5.15)
    assert check_numbers.margin(verdict(note="margin: a factor of 4")) == (0.25, 4)
    assert check_numbers.margin(verdict(note="")) is None


# ---------------------------------------------------------------- entries


def test_an_entry_has_printed_ours_interval_and_code():
    text = check_entry.entry(verdict(), "ais_audit")
    assert "<b>218.23</b>" in text
    assert "208.36 ± 0.67 nats" in text
    assert "ours − printed = −9.874, 99.9% between −14.17 and −5.581 nats" in text
    assert 'href="ais_audit.html#wang-ais-h20-logz"' in text
    assert text.index("v-band") < text.index("v-int")


def test_a_ratio_is_not_called_a_difference():
    text = check_entry.entry(
        verdict(name="wang-ais-h20-var", effect=0.5, low=0.25, high=1.5, unit="", note=""), "x"
    )
    assert "ours / printed = 0.500, 99.9% between 0.250 and 1.500" in text


def test_a_strip_is_drawn_to_scale():
    made = check_entry.strip([check_numbers.Interval("", 1.0, 0.0, 2.0)], (0.0, 4.0), (1.0, 3.0))
    left, right = check_entry.LEFT, check_entry.RIGHT
    assert f'd="M{left:.1f} 16H{(left + right) / 2:.1f}"' in made
    assert f'x="{left + (right - left) / 4:.1f}" y="4" width="{(right - left) / 2:.1f}"' in made


def test_every_verdict_has_a_reason_that_was_written_for_it():
    pages = notes_page.chapters(BOOK)
    outcomes = {v.name: v.outcome for path in pages for v in notes_page.verdicts_in(path)}
    stale = [c.name for c in claims().values() if c.outcome != outcomes[c.name]]
    assert not stale, "the verdict is another: write its reason anew in claims.csv"
    for claim in claims().values():
        assert 5 < len(claim.reason.split()) < 60, claim.name
        assert claim.reason.endswith("."), claim.name
        assert claim.effect, claim.name
    assert len({c.reason for c in claims().values()}) == len(claims())


def test_a_reason_of_another_outcome_is_not_shown(monkeypatch):
    claim = claims()["wang-ais-h20-logz"]._replace(outcome=CONTRADICTED, reason="Written.")
    monkeypatch.setitem(claims(), claim.name, claim)
    assert "Written." in check_entry.entry(verdict(), "x")
    other = check_entry.entry(verdict(outcome=NOT_DECIDED), "x")
    assert "Written." not in other
    assert "what the printed spread resolves" in other


def test_one_measurement_that_meets_several_numbers_says_so():
    names = ["kiwaki-t1-cd120-varopt-ess", "kiwaki-t1-cd120-linear-ess"]
    found = {n: (verdict(name=n, source="Kiwaki", place="table 1", ours="1"), "x") for n in names}
    assert check_page._met_together(found) == {names[0]: [names[1]], names[1]: [names[0]]}


def test_the_page_counts_what_it_shows():
    pages = notes_page.chapters(BOOK)
    every = {v.name: (v, path.stem) for path in pages for v in notes_page.verdicts_in(path)}
    text = check_page.page(every)
    assert text.count('class="v-entry') == len(every) == len(claims())
    assert text.count('class="v-cell') == len(CELLS)
    training = sum(v.outcome == NOT_DECIDED and "one training" in v.note for v, _ in every.values())
    assert f"{training} because one training stands for many" in text
    opened = [v.note for v, _ in every.values() if v.outcome == NOT_DECIDED]
    rough = sum(NO_RUN in note and "power:" not in note for note in opened)
    assert f"{rough} because what is printed is too rough for any run to tell" in text
    assert f"{len(opened) - training - rough} because our runs are too few" in text


# ---------------------------------------------------------------- frame and figures


def test_an_audit_page_is_of_check_and_a_part_that_joins_is_of_the_one_before():
    doors = frame.doors_of_pages(REPOSITORY / "_toc.yml")
    assert doors["book/ais"] == "Learn"
    assert doors["book/ais_audit"] == "Check"
    assert doors["book/glossary"] == "Learn"
    assert {door for door, _ in frame.DOORS} == set(doors.values())


def test_two_viewports_become_one():
    two = 'a<meta name="viewport" content="x">b<meta name="viewport" content="y">c'
    made, changed = frame.one_viewport(two, None)
    assert changed == 1
    assert made.count("viewport") == 1
    assert frame.one_viewport(made, None) == (made, 0)


def test_an_inlined_figure_has_its_own_ids_and_the_themes_colours():
    svg = (
        '<?xml version="1.0"?><svg viewBox="0 0 2 2" width="2"><metadata>x</metadata>'
        '<style type="text/css">*{stroke-linejoin: round}</style><path id="p" '
        'style="stroke: #0b5394"/><use xlink:href="#p" clip-path="url(#c)"/></svg>'
    )
    made = figures.inline(svg, "wide", "A line.", "f1-")
    assert "stroke: var(--fig-blue)" in made
    assert 'id="f1-p"' in made
    assert 'xlink:href="#f1-p"' in made
    assert "url(#f1-c)" in made
    assert "<style" not in made
    assert 'aria-label="A line."' in made


def test_a_smaller_figure_is_the_same_to_the_eye():
    noise = np.random.default_rng(1).integers(0, 50, (200, 200)) * 5
    shades = np.stack([noise, noise, 255 - noise], axis=2).astype(np.uint8)
    png = io.BytesIO()
    Image.fromarray(shades).save(png, "PNG")
    text = base64.b64encode(png.getvalue()).decode()
    path = '<path d="M 43.088521 -0.126 L 7 8.25"/>\n   <use x="1.23456"/>'
    made = figures.smaller(f'<image href="data:image/png;base64,\n{text}"/>{path}')
    assert 'd="M 43.08 -0.12 L 7 8.25"' in made
    assert '\n<use x="1.23"/>' in made
    assert len(made) < 0.7 * len(text)
    again = re.search(r"base64,([^\"]+)", made)[1]
    back = np.asarray(Image.open(io.BytesIO(base64.b64decode(again))).convert("RGB"), int)
    assert abs(back - shades).max() <= 8  # of 255: 32 levels of a colour


# ---------------------------------------------------------------- the header


@pytest.mark.parametrize("fork", ["", "https://github.com/you/your-fork/"])
def test_the_header_links_the_repository_if_it_has_an_address(fork):
    config = SimpleNamespace(fork=fork, html_theme_options={"navbar_end": ["theme-switcher.html"]})
    book.use_fork(None, config)
    links = {link["name"]: link["url"] for link in config.html_theme_options.get("icon_links", [])}
    assert ("navbar-icon-links.html" in config.html_theme_options["navbar_end"]) == bool(fork)
    assert links == ({
        "Repository": "https://github.com/you/your-fork",
        "Issues": "https://github.com/you/your-fork/issues",
        "Binder": "https://mybinder.org/v2/gh/you/your-fork/HEAD?urlpath=lab/tree/book",
    } if fork else {})  # fmt: skip


@pytest.mark.parametrize("fork", ["", "https://github.com/you/your-fork"])
def test_what_to_cite_has_a_year_and_the_address_if_there_is_one(fork):
    cff = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    entry = book.entry(cff, "2026", fork)
    assert f"version = {{{cff['version']}}}" in entry
    assert "author  = {{The rbmlib developers}},\n  year    = {2026}" in entry
    assert (f"url     = {{{fork}}}" in entry) == ("url" in entry) == bool(fork)
    assert (f"<{fork}>" in book.address(fork)) == bool(fork)


# ---------------------------------------------------------------- models


def document(*parts):
    made = new_document("page")
    made += parts
    return made


def test_every_model_has_a_row_and_images_have_dreams(tmp_path):
    page = models_page.page()
    for info in load_reference().values():
        (row,) = re.findall(rf'(?s)<section class="model" id="{info.model}">.*?</section>', page)
        assert f"{info.n_visible:,} × {info.n_hidden:,} units" in row
        assert ("dreams" in row) == (info.n_visible == 784)
    models_page.draw(tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == page.count('class="dreams"') > 10


def test_names_of_models_become_links_but_not_in_titles_or_links():
    text = nodes.paragraph("", "", nodes.literal("", "h20"), nodes.literal("", "h21"))
    title = nodes.title("", "", nodes.literal("", "h20"))
    link = nodes.paragraph("", "", nodes.reference("", "", nodes.literal("", "h20")))
    made = document(nodes.section("", title, text, link))
    app = SimpleNamespace(
        builder=SimpleNamespace(get_relative_uri=lambda here, there: "models.html")
    )
    models_page.link_names(app, made, "book/ais")
    found = [node["refuri"] for node in made.findall(nodes.reference) if "refuri" in node]
    assert found == ["models.html#h20"]


def test_an_inlined_figure_keeps_the_class_by_which_a_script_finds_it(tmp_path):
    svg = '<svg viewBox="0 0 2 2"><desc>matplotlib</desc></svg>'
    (tmp_path / "front.svg").write_text(svg, encoding="utf-8")
    page = '<p><img class="front-still" src="front.svg" alt="Chains."></p>'
    made, changed = figures.inlined(page, tmp_path / "intro.html")
    assert changed == 1
    assert 'class="book-figure front-still only"' in made
    assert 'aria-label="Chains."' in made


def test_what_chapters_take_is_read_from_their_cells(tmp_path):
    source = 'model: str = ""  # a file\nn_chains: int = 10_000  # chains\nx = 3\n'
    cells = [
        {"source": "y: int = 1  # no parameter", "metadata": {}},
        {"source": source, "metadata": {"tags": ["parameters"]}},
    ]
    for name, held in (("one", cells), ("two", cells[:1])):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": held}))
    assert parameters_page.parameters(tmp_path / "one.ipynb") == {
        "model": ('""', "a file"),
        "n_chains": ("10_000", "chains"),
    }
    assert parameters_page.page(tmp_path).splitlines()[2:] == [
        "| {doc}`one` | yes | no | `n_chains` 10_000 |"
    ]
