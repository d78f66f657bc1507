"""The site from its sources: header, figures, models, parameters, heads, notes in the margin, the
fold at the end, questions with letters, slides and the PDF."""

import json
import re
from types import SimpleNamespace

import chapters
import exercises
import figures
import frame
import glosses
import heads
import lessons_pdf
import models_page
import pytest
import quiz
import slides
import yaml
from docutils import nodes
from docutils.utils import new_document
from helpers_book import BOOK, REPOSITORY

import book
from rbmbook import load_reference


def document(*parts):
    made = new_document("page")
    made += parts
    return made


# ---------------------------------------------------------------- frame, figures, header


def test_an_inlined_figure_has_its_own_ids_and_the_themes_colours():
    svg = (
        '<?xml version="1.0"?><svg viewBox="0 0 2 2" width="2"><metadata>x</metadata>'
        '<style type="text/css">*{stroke-linejoin: round}</style><path id="p" '
        'style="stroke: #0b5394"/><use xlink:href="#p" clip-path="url(#c)"/></svg>'
    )
    made = figures.inline(svg, "wide", "A line.", "f1-")
    parts = "stroke: var(--fig-blue)", 'id="f1-p"', 'xlink:href="#f1-p"', "url(#f1-c)", "A line."
    assert all(part in made for part in parts)
    assert "<style" not in made


@pytest.mark.parametrize("fork", ["", "https://github.com/you/your-fork"])
def test_the_header_and_what_to_cite_link_the_repository_if_it_has_an_address(fork):
    config = SimpleNamespace(fork=fork, html_theme_options={"navbar_end": ["theme-switcher.html"]})
    book.use_fork(None, config)
    links = {link["name"]: link["url"] for link in config.html_theme_options.get("icon_links", [])}
    assert links == ({
        "Repository": "https://github.com/you/your-fork",
        "Issues": "https://github.com/you/your-fork/issues",
        "Binder": "https://mybinder.org/v2/gh/you/your-fork/HEAD?urlpath=lab/tree/book",
    } if fork else {})  # fmt: skip
    cff = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    entry = book.entry(cff, "2026", fork)
    assert f"version = {{{cff['version']}}}" in entry
    assert "author  = {{The rbmlib developers}},\n  year    = {2026}" in entry
    assert (f"url     = {{{fork}}}" in entry) == ("url" in entry) == bool(fork)


# ---------------------------------------------------------------- models and parameters


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
    models_page.link_names(app, made, "book/learn/03_ais")
    found = [node["refuri"] for node in made.findall(nodes.reference) if "refuri" in node]
    assert found == ["models.html#h20"]


def test_what_chapters_take_is_read_from_their_cells(tmp_path):
    source = 'model: str = ""  # a file\nn_chains: int = 10_000  # chains\nx = 3\n'
    cells = [
        {"source": "y: int = 1  # no parameter", "metadata": {}},
        {"source": source, "metadata": {"tags": ["parameters"]}},
    ]
    (tmp_path / "check").mkdir()
    (tmp_path / "_tools").mkdir()
    for name, held in (("one", cells), ("two", cells[:1]), ("check/a", cells), ("_tools/b", cells)):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": held}))
    assert chapters.parameters(tmp_path / "one.ipynb") == {
        "model": ('""', "a file"),
        "n_chains": ("10_000", "chains"),
    }
    assert chapters.page(tmp_path).splitlines()[2:] == [
        "| {doc}`check/a` | yes | no | `n_chains` 10_000 |",
        "| {doc}`one` | yes | no | `n_chains` 10_000 |",
    ]


# ---------------------------------------------------------------- heads, margin, fold


def test_a_description_is_whole_sentences_of_the_first_paragraph():
    words = "This is a sentence of some length, with an end. " * 6
    made = heads.description(document(nodes.paragraph("", "Short."), nodes.paragraph("", words)))
    assert made == ("This is a sentence of some length, with an end. " * 4).strip()
    raw = nodes.raw("", f"<div><p class='lead'>A &lt; B; {words}</p></div>", format="html")
    assert heads.description(document(raw)).startswith("A < B; This is a sentence")
    code, text = nodes.literal_block("", "x = 1\n" * 900), nodes.paragraph("", "word " * 600)
    assert heads.minutes(document(text, code, nodes.raw("", "<p> " * 900))) == 3, "text alone"


def test_every_page_of_the_contents_is_behind_one_of_the_doors():
    doors, found = dict(frame.DOORS), frame.doors_of_pages(REPOSITORY / "_toc.yml")
    assert {*found.values()} == {*doors}
    assert {name: found[page] for name, page in doors.items()} == {name: name for name in doors}


def test_a_word_is_explained_in_the_margin_once_where_there_is_room():
    def entry(words, *said):
        terms = [nodes.term("", word, ids=[f"term-{word}"]) for word in words]
        text = nodes.definition("", nodes.paragraph("", "", *said))
        return nodes.definition_list_item("", *terms, text)

    long = nodes.math("", "x" * (glosses.WIDEST + 1))
    one = nodes.Text("Chains of "), nodes.emphasis("", "one"), nodes.Text(" way. More words.")
    entries = document(nodes.definition_list(
        "", entry(["AIS", "annealing"], *one), entry(["wide"], nodes.Text("It is "), long),
        entry(["base"], nodes.Text("It begins there. And so on.")),
    ))  # fmt: skip
    app = SimpleNamespace(
        builder=SimpleNamespace(format="html"),
        env=SimpleNamespace(get_doctree={"book/glossary": entries}.get),
    )

    def said(*words, more=""):
        links = [nodes.reference("", w, refuri=f"glossary.html#term-{w}") for w in words]
        return nodes.paragraph("", "", *links, nodes.Text(more))

    section = nodes.section("", said("AIS", "base"), said("annealing", "wide"), said("base"))
    glosses.explain(app, document(section), "book/learn/03_ais")
    kinds = [type(child).__name__ for child in section]
    assert kinds == ["container", "paragraph", "paragraph", "container", "paragraph"]
    assert section[0].astext() == "AIS Chains of one way."
    assert section[3].astext() == "base It begins there."
    roomy = nodes.section("", said("AIS", "base", more="x" * glosses.A_NOTE))
    glosses.explain(app, document(roomy), "book/learn/03_ais")
    assert [type(child).__name__ for child in roomy] == ["container", "container", "paragraph"]


@pytest.mark.parametrize(
    ("title", "tags", "in_box", "before"),
    [
        (chapters.TITLE, "", ["parameters", "setup", "check", "version"], ["shown"]),
        (chapters.TITLE, "shown", ["setup", "check", "version"], ["parameters", "shown"]),
        ("Another box", "", [], ["parameters", "setup", "shown"]),
    ],
)
def test_what_a_reader_wants_last_moves_into_the_fold(title, tags, in_box, before):
    def cell(name, *tags):
        classes = [f"tag_{tag}" for tag in tags]
        return nodes.container(ids=[name], nb_element="cell_code", classes=classes)

    def names(node):
        return [made["ids"][0] for made in node.findall(nodes.container)]

    box = nodes.admonition("", nodes.title("", title), nodes.paragraph("", "It takes a minute."))
    cells = cell("parameters", "parameters", tags), cell("setup", "run"), cell("shown")
    section = nodes.section("", *cells, box, cell("check"), cell("version", "run"))
    chapters.gather(None, section)
    assert names(box) == in_box
    assert names(section)[: len(before)] == before


# ---------------------------------------------------------------- a course

ASK = [path for path in (BOOK / "exercises").glob("*.md") if quiz.ASKS in path.read_text()]
WEEKS = sorted((BOOK / "slides").glob("week*.md"))


@pytest.mark.parametrize("path", ASK, ids=lambda path: path.stem)
def test_every_question_with_letters_has_one_right_button_and_a_reason_for_each(path):
    source = path.read_text(encoding="utf-8")
    made = re.findall(r'<div class="quiz".*?</div>', quiz.with_buttons(path.stem, source))
    assert len(made) == source.count(quiz.ASKS) > 0
    for group in made:
        found = re.findall(r'data-right="(\d)" data-why="([^"]+)">([a-z])<', group)
        assert [letter for *_, letter in found] == ["a", "b", "c", "d"]
        assert [right for right, *_ in found].count("1") == 1
        assert len({why for _, why, _ in found if "one letter of" not in why}) == 4


def titles(page: str) -> list[str]:
    text = (BOOK / "exercises" / f"{page}.md").read_text(encoding="utf-8")
    return [part.title for part in exercises.parts(text) if part.kind == "exercise"]


@pytest.mark.parametrize("week", WEEKS, ids=lambda path: path.stem)
def test_slides_fill_two_sessions_and_name_exercises_that_there_are(week):
    text = week.read_text(encoding="utf-8")
    made = re.findall(
        r'(?s)data-minutes="(\d+)">(.+?)<aside>.+?</aside>', slides.deck(text, slides.figures())
    )
    first = next(i for i, (_, shown) in enumerate(made) if "<h2>Session 2" in shown)
    minutes = [int(spent) for spent, _ in made]
    assert len(made) == len(re.split(r"(?m)^---$", text))
    assert (sum(minutes[:first]), sum(minutes[first:])) == (90, 90)
    text += (BOOK / "teachers.md").read_text(encoding="utf-8")
    named = re.findall(r"exercises? (\d) (?:and \d )?of (?:\*|\{doc\}`exercises/)(\w+)", text, re.I)
    named += re.findall(r"exercises? \d and (\d) of \*(\w+)\*", text, re.I)
    assert len(named) > 2
    assert all(int(number) <= len(titles(page)) for number, page in named)
    for number, page, title in re.findall(r"xercise (\d) of \*(\w+)\*: (\w[\w ]+)$", text, re.M):
        assert title in titles(page)[int(number) - 1]


@pytest.mark.pages
def test_the_teachers_window_has_the_notes_and_turns_with_the_slides(tmp_path, opened):
    deck = tmp_path / "week1.html"
    text = WEEKS[0].read_text(encoding="utf-8")
    deck.write_text(slides.deck(text, slides.figures()), encoding="utf-8")
    shown = opened("book/intro.html")
    shown.goto(deck.as_uri() + "#3")
    with shown.expect_popup() as popup:
        shown.keyboard.press("p")
    notes = popup.value
    notes.wait_for_selector("section.now aside", state="visible")
    assert not shown.locator("section.now aside").is_visible()
    notes.keyboard.press("ArrowRight")
    shown.wait_for_function("location.hash === '#4'")
    shown.keyboard.press("End")
    notes.wait_for_function("document.querySelector('section.now') === slides.at(-1)")


def test_the_pdf_of_lessons_leads_links_to_places_in_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons_pdf, "PAGES", tmp_path)
    page = """<head></head><article class="bd-article"><h1 id="top">A</h1><a href="#top">1</a>
<a href="b.html#x">2</a><a href="b.html">3</a><a href="glossary.html#term-base">4</a>
<a href="https://a.org">5</a><a href="../index.html">6</a><script>1</script></article>"""
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    made = lessons_pdf.lesson("a", ["a", "b"])
    assert re.findall(r'(?:id|href)="([^"]*)"', made) == [
        "a", "a.top", "#a.top", "#b.x", "#b", "https://a.org",
    ]  # fmt: skip
    assert "script" not in made


def test_figures_of_check_have_the_numbers_of_their_sources():
    numbers = {
        "book/check/wang": {"figure": {"fig-wang-4": (8,), "fig-wang-3": (7,)}},
        "book/use/compare": {"figure": {"fig-compare-9": (9,), "fig-b-7": (10,)}},
    }
    book.number_by_page(None, SimpleNamespace(toc_fignumbers=numbers))
    assert numbers == {
        "book/check/wang": {"figure": {"fig-wang-4": (4,), "fig-wang-3": (3,)}},
        "book/use/compare": {"figure": {"fig-compare-9": (1,), "fig-b-7": (2,)}},
    }
