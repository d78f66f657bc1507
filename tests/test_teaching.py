"""What a course is taught with: slides with notes, exercises by number, all lessons as one PDF."""

import json
import re
import shutil
import sys
from types import SimpleNamespace

import pytest
from helpers_book import BOOK, REPOSITORY

sys.path.insert(0, str(BOOK / "_tools"))
sys.path.insert(0, str(BOOK / "_ext"))

import exercises
import lessons_pdf
import slides

import book

ALL = slides.figures()
SAID = r"xercise (\d) of \*(\w+)\*: (\w[\w ]+)$"
WEEKS = sorted((BOOK / "slides").glob("week*.md"))


def titles(page: str) -> list[str]:
    text = (BOOK / "exercises" / f"{page}.md").read_text(encoding="utf-8")
    return [part.title for part in exercises.parts(text) if part.kind == "exercise"]


@pytest.mark.parametrize("week", WEEKS, ids=lambda path: path.stem)
def test_a_week_has_twenty_slides_and_two_sessions_of_ninety_minutes(week):
    text = week.read_text(encoding="utf-8")
    made = re.findall(r'(?s)data-minutes="(\d+)">(.+?)<aside>.+?</aside>', slides.deck(text, ALL))
    first = next(i for i, (_, shown) in enumerate(made) if "<h2>Session 2" in shown)
    minutes = [int(spent) for spent, _ in made]
    assert len(made) == len(re.split(r"(?m)^---$", text)) >= 20
    assert (sum(minutes[:first]), sum(minutes[first:])) == (90, 90)


@pytest.mark.parametrize("week", WEEKS, ids=lambda path: path.stem)
def test_slides_name_exercises_that_there_are(week):
    text = week.read_text(encoding="utf-8") + (BOOK / "teachers.md").read_text(encoding="utf-8")
    named = re.findall(r"exercises? (\d) (?:and \d )?of (?:\*|\{doc\}`exercises/)(\w+)", text, re.I)
    named += re.findall(r"exercises? \d and (\d) of \*(\w+)\*", text, re.I)
    assert len(named) > 2
    assert all(int(number) <= len(titles(page)) for number, page in named)
    for number, page, title in re.findall(SAID, text, re.M):
        assert title in titles(page)[int(number) - 1]


def test_numbers_on_the_first_slides_are_those_that_the_first_lesson_prints():
    cells = json.loads((BOOK / "start.ipynb").read_text(encoding="utf-8"))["cells"]
    printed = "".join("".join(o.get("text", "")) for c in cells for o in c.get("outputs", []))
    slide, figure = re.split(r"(?m)^---$", WEEKS[0].read_text(encoding="utf-8"))[1:3]
    chains, ess = re.search(r"^(\d+) chains .*size of (\d+)", slide, re.M | re.S).groups()
    value = re.search(r"log Z = [\d.]+ ± [\d.]+", slide)[0]
    assert f"{chains} of 200 chains:\n{value}\neffective sample size {ess}" in printed
    exact = re.search(r"exact value is ([\d.]+\d)", figure)[1]
    assert f"exact log Z = {exact}" in printed


@pytest.mark.pages
def test_the_teachers_window_has_the_notes_and_turns_with_the_slides(tmp_path):
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("needs a Chromium")
    from playwright.sync_api import sync_playwright

    deck = tmp_path / "week1.html"
    deck.write_text(slides.deck(WEEKS[0].read_text(encoding="utf-8"), ALL), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        shown = browser.new_page()
        shown.goto(deck.as_uri() + "#3")
        with shown.expect_popup() as opened:
            shown.keyboard.press("p")
        notes = opened.value
        notes.wait_for_selector("section.now aside", state="visible")
        assert not shown.locator("section.now aside").is_visible()
        notes.keyboard.press("ArrowRight")
        shown.wait_for_function("location.hash === '#4'")
        shown.keyboard.press("End")
        notes.wait_for_function("document.querySelector('section.now') === slides.at(-1)")
        browser.close()


def test_exercises_are_counted_on_each_page_as_in_its_notebook():
    lesson = {"exercise": {"b": (9,), "a": (8,)}, "figure": {"f": (3, 4)}}
    other = {"figure": {"h": (6,), "g": (5,)}, "table": {"t": (2,)}}
    assert (
        book.number_by_page(None, SimpleNamespace(toc_fignumbers={"a": lesson, "b": other})) == []
    )
    assert lesson == {"exercise": {"a": (1,), "b": (2,)}, "figure": {"f": (3, 4)}}
    assert other == {"figure": {"g": (1,), "h": (2,)}, "table": {"t": (1,)}}
    cells = exercises.cells_of((BOOK / "exercises" / "ais.md").read_text("utf-8"), teacher=False)
    heads = [c.source.partition("\n")[0] for c in cells if c.source.startswith("### Exercise")]
    assert heads == [f"### Exercise {n}. {t}" for n, t in enumerate(titles("ais"), 1)]


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
    assert lessons_pdf.lessons()[:3] == ["start", "mcmc_basics", "ais"]


@pytest.mark.pages
def test_the_number_of_an_exercise_is_that_of_its_page():
    html = REPOSITORY / "_build" / "tests" / "_build" / "html" / "book" / "exercises"
    page = (html / "sams.html").read_text(encoding="utf-8")
    found = re.findall(r'caption-number">Exercise ([\d.]+) *</span> \(([^)<]+)\)', page)
    assert found == [(str(n), t) for n, t in enumerate(titles("sams"), 1)]
