"""L0: what a lesson and its audit page must look like, read from the files without running them."""

import json
import re
from pathlib import Path

import pytest
import yaml
from helpers_book import (
    LINES_OF_A_SCREEN,
    REPOSITORY,
    chapter_name,
    chapter_paths,
    figures,
    is_audit,
    is_lesson,
    leaks,
    n_tables,
    open_cells,
    read,
    shown_code,
    shown_text,
    source,
)
from helpers_lessons import (
    MOST_BEFORE,
    MOST_WORDS,
    has_run_fold,
    lesson_paths,
    measured,
    prose,
    words,
)

MOST_CELLS, MOST_FIGURES, MOST_SCREENS, WIDEST = 100, 15, 8, 88
LONGEST_STEP = 25  # lines of a code cell that is not folded
LESSONS = [path for path in chapter_paths() if is_lesson(path)]
AUDITS = [path for path in chapter_paths() if is_audit(path)]

OF_NO_SOURCE = [path for path in LESSONS + AUDITS if path.parent.name != "check"]

every_lesson = pytest.mark.parametrize("path", LESSONS, ids=chapter_name)
every_audit = pytest.mark.parametrize("path", AUDITS, ids=chapter_name)
every_page = pytest.mark.parametrize("path", LESSONS + AUDITS, ids=chapter_name)


def cells_of(path):
    return read(path)["cells"]


def code(cells):
    return [cell for cell in cells if cell["cell_type"] == "code" and source(cell).strip()]


# ---------------------------------------------------------------- contents


def misplaced(toc: dict, stems) -> list[str]:
    """Notebooks that are not in the contents, and audit pages that are not under Check."""
    door, doors = "", {}
    for part in toc["parts"]:
        door = door if part["caption"].startswith("+") else part["caption"]
        doors |= {entry["file"]: door for entry in part["chapters"]}
    wrong = [f"{stem}: not in _toc.yml" for stem in stems if f"book/{stem}" not in doors]
    for stem in stems:
        if is_audit(Path(stem)) and doors.get(f"book/{stem}") != "Check":
            wrong.append(f"{stem}: not under Check")
    return wrong


def test_every_notebook_is_in_the_contents_and_audits_are_under_check():
    toc = yaml.safe_load((REPOSITORY / "_toc.yml").read_text(encoding="utf-8"))
    assert not misplaced(toc, [chapter_name(path) for path in chapter_paths()])


def test_what_counts_as_misplaced():
    toc = {
        "parts": [
            {"caption": "Learn", "chapters": [{"file": "book/a"}, {"file": "book/b_audit"}]},
            {"caption": "Check", "chapters": [{"file": "book/notes"}]},
            {"caption": "+ Audits", "chapters": [{"file": "book/a_audit"}]},
        ]
    }
    stems = ["a", "a_audit", "b_audit", "c", "check/d"]
    assert misplaced(toc, stems) == [
        "c: not in _toc.yml",
        "check/d: not in _toc.yml",
        "b_audit: not under Check",
        "check/d: not under Check",
    ]


# ---------------------------------------------------------------- limits


def over_limits(cells) -> list[str]:
    shown, pictures = shown_code(cells), len(figures(cells)) + n_tables(cells)
    counts = {
        f"{len(cells)} cells, at most {MOST_CELLS}": len(cells) > MOST_CELLS,
        f"{pictures} figures and tables, at most {MOST_FIGURES}": pictures > MOST_FIGURES,
        f"{len(shown)} lines of code shown, at most {MOST_SCREENS} screens of "
        f"{LINES_OF_A_SCREEN}": len(shown) > MOST_SCREENS * LINES_OF_A_SCREEN,
    }
    return [words for words, over in counts.items() if over]


@every_lesson
def test_a_lesson_can_be_read_in_one_sitting(path):
    assert not over_limits(cells_of(path)), "move tables, checks and plot code to the audit page"


def long_steps(cells) -> list[str]:
    return [
        f"{len(source(cell).splitlines())} lines: {source(cell)[:40]!r}"
        for cell in open_cells(cells)
        if len(source(cell).splitlines()) > LONGEST_STEP
    ]


@every_lesson
def test_code_comes_in_steps(path):
    assert not long_steps(cells_of(path)), (
        "cut it into steps of 5 to 12 lines with a sentence between, or fold it"
    )


@every_page
def test_code_fits_its_column(path):
    wide = [line for c in code(cells_of(path)) for line in source(c).split("\n")]
    assert not [line for line in wide if len(line) > WIDEST]


def cell(text="x = 1", kind="code", tags=(), outputs=(), **mystnb):
    made = {"cell_type": kind, "source": text, "metadata": {"tags": list(tags)}}
    if mystnb:
        made["metadata"]["mystnb"] = mystnb
    return made | ({"outputs": list(outputs)} if kind == "code" else {})


PICTURE = {"output_type": "display_data", "data": {"image/png": "", "text/plain": "<Figure size>"}}
TABLE = {"output_type": "execute_result", "data": {"text/html": "<table><td>1</td></table>"}}


def test_limits_count_what_a_reader_sees():
    assert not over_limits([cell()] * 100)
    assert over_limits([cell()] * 101) == ["101 cells, at most 100"]
    assert not over_limits([cell("x\n" * 320)])
    assert over_limits([cell("x\n" * 321)])[0].startswith("321 lines")
    assert not over_limits([cell("x\n" * 400, tags=["hide-input"])])
    gated = [cell("```{solution-start} a\n```", "markdown"), cell("x\n" * 400),
             cell("```{solution-end}\n```", "markdown")]  # fmt: skip
    assert not over_limits(gated)
    assert over_limits([*gated, cell("x\n" * 321)])
    fence = "```python\n" + "x\n" * 321 + "```\n"
    assert over_limits([cell(fence, "markdown")])
    assert not over_limits([cell(f"````{{solution}} a\n{fence}````", "markdown")])
    assert not over_limits([cell(outputs=[PICTURE, TABLE])] * 7)
    written = cell("| a | b |\n|---|---|\n| 1 | 2 |\n", "markdown")
    assert over_limits([cell(outputs=[PICTURE, TABLE])] * 7 + [written, written])


def test_a_step_is_long_only_where_it_is_seen():
    long = "x\n" * 26
    assert not long_steps([cell("x\n" * 25), cell(long, "markdown")])
    assert long_steps([cell("y = 2"), cell(long)]) == [f"26 lines: {long[:40]!r}"]
    assert not long_steps([cell(long, tags=["hide-input"])])
    gate = "```{solution-start} a\n```", "```{solution-end}\n```"
    begin, end = (cell(text, "markdown") for text in gate)
    assert not long_steps([begin, cell(long), end])
    assert len(long_steps([begin, cell("x"), end, cell(long)])) == 1


# ---------------------------------------------------------------- figures


def figure_faults(cells) -> list[str]:
    """Figures without a caption, a name for links, a description, or alone in their cell."""
    faults, shown = [], figures(cells)
    for made in {id(c): c for c in shown}.values():
        mystnb = made["metadata"].get("mystnb", {})
        figure, alt = mystnb.get("figure", {}), mystnb.get("image", {}).get("alt", "")
        where = f"figure of {source(made)[:40]!r}"
        if sum(c is made for c in shown) + n_tables([made]) > 1:
            faults.append(f"{where}: one figure a cell, and no table beside it")
        if len(figure.get("caption", "").split()) < 6:
            faults.append(f"{where}: no caption of six words or more, mystnb: figure: caption")
        if not re.fullmatch(r"fig-[a-z0-9-]+", figure.get("name", "")):
            faults.append(f"{where}: no name fig-..., mystnb: figure: name")
        if len(alt.split()) < 4:
            faults.append(f"{where}: no description, mystnb: image: alt")
        elif alt == figure.get("caption"):
            faults.append(f"{where}: the description repeats the caption")
    return faults


@every_page
def test_figures_have_captions_and_descriptions(path):
    assert not figure_faults(cells_of(path))


def test_names_of_figures_are_unique():
    names = [
        c["metadata"].get("mystnb", {}).get("figure", {}).get("name")
        for path in chapter_paths()
        for c in cells_of(path)
    ]
    names = [name for name in names if name]
    assert len(names) == len(set(names))


def test_what_counts_as_a_fault_of_a_figure():
    caption = {"caption": "Errors against sweeps, each point one run.", "name": "fig-ais-errors"}
    alt = {"alt": "Two falling lines of points"}
    good = cell(outputs=[PICTURE], figure=caption, image=alt)
    assert not figure_faults([good, cell(outputs=[TABLE]), cell()])
    for wrong in (
        cell(outputs=[PICTURE], figure={"name": "fig-ais-errors"}, image=alt),
        cell(outputs=[PICTURE], figure=caption),
        cell(outputs=[PICTURE], figure=caption | {"name": "errors"}, image=alt),
        cell(outputs=[PICTURE, TABLE], figure=caption, image=alt),
        cell(outputs=[PICTURE], figure=caption, image={"alt": caption["caption"]}),
    ):
        assert len(figure_faults([wrong])) == 1


# ---------------------------------------------------------------- words


@every_page
def test_nothing_leaks_into_the_text(path):
    cells = cells_of(path)
    outputs = [leaks(shown_text(o)) for c in cells for o in c.get("outputs", [])]
    assert not [leak for found in outputs for leak in found]
    assert not [leak for c in cells for leak in leaks(source(c)) if "a label" in leak], (
        "write {eq}`eq-name`, or the number of the source: (Carlson, eq. 24)"
    )


FOREIGN = re.compile(r"\beqs?\. \(?\d")
NAMED = re.compile(r"[A-ZÀ-Ž][\w’']+(?: et al\.)?,? \(?$|`,? \(?$|report'?s?,? $")


def own_numbers(text: str) -> list[str]:
    """Numbers of equations that do not say in whose paper: the book's own come from {eq}."""
    return [
        text[max(0, m.start() - 25) : m.end() + 5]
        for m in FOREIGN.finditer(text)
        if not NAMED.search(text[: m.start()])
    ]


@pytest.mark.parametrize("path", OF_NO_SOURCE, ids=chapter_name)
def test_numbers_of_other_texts_are_called_theirs(path):
    cells = cells_of(path)
    texts = [source(c) for c in cells] + [
        shown_text(o) for c in cells for o in c.get("outputs", [])
    ]
    assert not [found for text in texts for found in own_numbers(text)]


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("as in (Carlson, eq. 24)", 0),
        ("{cite}`carlson2016partition`, eq. (24)", 0),
        ("the report's eq. (14)", 0),
        ("log Z by eq. (12) from c", 1),
        ("eq. (24) − AIS", 1),
        ("see {eq}`eq-rts`", 0),
    ],
)
def test_what_counts_as_a_number_without_an_owner(text, n):
    assert len(own_numbers(text)) == n


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("<Axes: xlabel='β'>", 1),
        ("array([<Axes: >, <Axes: >])", 2),
        ("agrees with eq. (mistakes) to", 1),
        ("agrees with eq. (2.3) to", 0),
        ("function at 0x7f00", 1),
        ("see {eq}`eq-rts`", 1),
        ("log Z is 3 nats", 0),
    ],
)
def test_what_counts_as_a_leak(text, n):
    assert len(leaks(text)) == n


# ---------------------------------------------------------------- length


def too_much(path) -> list[str]:
    found = measured(path)
    limits = {"words": MOST_WORDS, "before": MOST_BEFORE}
    return [f"{found[what]} {what}, at most {most}" for what, most in limits.items()
            if found[what] > most]  # fmt: skip


@pytest.mark.parametrize("path", lesson_paths(), ids=chapter_name)
def test_a_lesson_is_short_and_soon_shows_a_figure(path):
    """``python tests/helpers_lessons.py`` prints what each lesson has."""
    assert not too_much(path), "what is for the curious goes to the audit page"
    assert has_run_fold(path), "parameters and provenance stand in one fold at the end"


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("one two $x_1 + 2$ three — four", 4),
        ("$$\na + b\n$$ (eq-a)\n\nafter it", 2),
        ("```python\nx = 1\n```\n| a | b |\n(label)=\n# Title", 1),
        ("see {doc}`start`, {term}`some words <other>` and {cite}`a2001`", 6),
        ("```{admonition} A title\n:class: dropdown\nits text\n```", 4),
        ("```{admonition} Run this page yourself\n:class: dropdown\nits text\n```", 0),
        ("````{exercise} Name\n:label: ex-a\n\nWhat?\n```python\n1\n```\n````", 2),
        (":::{prf:algorithm} Name (1970)\n:label: alg\n\n1. draw\n:::", 2),
    ],
)
def test_what_counts_as_a_word(text, n):
    assert words(text) == n, prose(text)


def test_what_is_measured(tmp_path):
    cells = [cell("# Title\n\nis 14.5, and 2 more", "markdown"), cell(outputs=[PICTURE]),
             cell("```{admonition} a\n:class: dropdown\nb\n```", "markdown"),
             cell(tags=["hide-input"])]  # fmt: skip
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    found = {"words": 8, "before": 6, "figures": 1, "folds": 2, "numbers": 2}
    assert measured(path) == found
    assert not too_much(path)
    cells[0]["source"] += " word" * 1500
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert too_much(path) == ["1508 words, at most 1500", "1506 before, at most 150"]
