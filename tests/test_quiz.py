"""Questions with letters answer in the page, by the judge that marks the notebook."""

import re
import shutil
import sys

import pytest
from helpers_book import BOOK, REPOSITORY

sys.path.insert(0, str(BOOK / "_ext"))

import quiz

HTML = REPOSITORY / "_build" / "tests" / "_build" / "html" / "book" / "exercises"
PAGES = sorted(path for path in (BOOK / "exercises").glob("*.md") if quiz.ASKS in path.read_text())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_question_with_letters_has_one_right_button_and_a_reason_for_each(path):
    source = path.read_text(encoding="utf-8")
    made = re.findall(r'<div class="quiz".*?</div>', quiz.with_buttons(path.stem, source))
    assert len(made) == source.count(quiz.ASKS) > 0
    for group in made:
        found = re.findall(r'data-right="(\d)" data-why="([^"]+)">([a-z])<', group)
        assert [letter for *_, letter in found] == ["a", "b", "c", "d"]
        assert [right for right, *_ in found].count("1") == 1
        assert len({why for _, why, _ in found}) == 4
        assert not [why for _, why, _ in found if "one letter of" in why]


def test_a_question_without_letters_stays_as_it_is():
    source = "```{exercise} A\n:label: task-rts-gain\nWhich (a) or (b) gain?\n```\n"
    assert quiz.with_buttons("rts", source) == source


@pytest.mark.pages
@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_letters_are_pressed_by_pointer_and_keyboard_from_a_file_on_disk(width, scheme):
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None or not HTML.is_dir():
        pytest.skip("needs rendered pages and a Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        look = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
        page = browser.new_context(offline=True, **look).new_page()
        page.goto((HTML / "rts.html").as_uri())
        assert page.locator(".quiz").count() == 2
        first = page.locator(".quiz").first
        first.get_by_role("button", name="a").click()
        assert first.get_by_role("status").inner_text().startswith("(a) Not yet: ")
        first.get_by_role("button", name="d").focus()
        page.keyboard.press("Enter")
        assert first.get_by_role("status").inner_text().startswith("(d) Right. ")
        assert first.locator(".good").count() == 1
        assert first.locator(".bad").count() == 0
        plain = browser.new_context(java_script_enabled=False).new_page()
        plain.goto((HTML / "rts.html").as_uri())
        assert not plain.locator(".quiz").first.is_visible()
        browser.close()
