"""The moving figures as a reader has them: by keyboard, with little motion, and without scripts."""

import base64
import os
import re
import shutil
import sys

import numpy as np
import pytest
from helpers_book import REPOSITORY

import rbmlib as rl

STATIC = REPOSITORY / "book" / "_ext" / "static" / "moving"
PAGE = REPOSITORY / "_build" / "tests" / "_build" / "html" / "book" / "moving_figures.html"
NAMES = ["digits", "wells", "ladder", "tempering", "bracket"]
MOVED = ["digits", "wells", "tempering"]  # those with a clock
every_figure = pytest.mark.parametrize("name", NAMES)

sys.path.insert(0, str(REPOSITORY / "book" / "_tools"))
import moving_weights  # noqa: E402


def test_weights_are_those_of_the_committed_model():
    script = moving_weights.TARGET.read_text(encoding="utf-8")
    assert script == moving_weights.script()
    assert len(script) < 30_000
    rbm = rl.load_rbm(moving_weights.MODEL)
    text, scale = moving_weights.packed(rbm.weights.ravel())
    back = moving_weights.unpacked(text, scale)
    assert abs(back - rbm.weights.ravel()).max() <= scale / 2 + 1e-9
    assert np.frombuffer(base64.b64decode(text), np.int8).min() >= -127


def test_scripts_are_plain_and_fetch_nothing():
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://|fetch\(|XMLHttpRequest|import\(|eval\(", text), path.name
    assert sum(p.stat().st_size for p in STATIC.iterdir()) < 500_000


pages = pytest.mark.pages


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if not PAGE.exists() or not path:
        if os.environ.get("RBMLIB_REQUIRE_BROWSER"):
            pytest.fail("no rendered book or no browser")
        pytest.skip("needs `make pages` and a Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    contexts = []

    def open_page(**settings):
        context = browser.new_context(offline=True, **settings)
        contexts.append(context)
        page = context.new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(PAGE.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def says(page, name):
    return page.locator(f"#moving-{name} .moving-says").inner_text()


def picture(page, name):
    return page.locator(f"#moving-{name} canvas").evaluate("c => c.toDataURL()")


def tab_to(page, name, text):
    """Go to a control of a figure with the tab key alone, from the control before the figure."""
    wanted = f"#moving-{name} .moving-bar"
    page.locator(f"#moving-{name}").evaluate(
        "e => { e.previousElementSibling.tabIndex = -1; e.previousElementSibling.focus(); }"
    )
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate(
            """([bar, text]) => { const e = document.activeElement;
            return !!e.closest(bar) && (e.closest('label') || e).textContent.includes(text); }""",
            [wanted, text],
        ):
            return
    raise AssertionError(f"the tab key does not reach {text!r} of {name}")


@pages
@every_figure
def test_a_figure_is_drawn_and_named(visit, name):
    page = visit()
    assert page.complaints == []
    canvas = page.locator(f"#moving-{name} canvas")
    assert canvas.is_visible()
    assert len(canvas.get_attribute("aria-label")) > 60
    assert not page.locator(f"#moving-{name} img").is_visible()
    shades = canvas.evaluate(
        "c => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    )
    assert shades > 10, "an empty picture"


@pages
@pytest.mark.parametrize("name", MOVED)
def test_run_step_and_pause_by_keyboard(visit, name):
    page = visit()
    before, words = picture(page, name), says(page, name)
    tab_to(page, name, "One step")
    page.keyboard.press("Enter")
    assert says(page, name) != words
    for _ in range(10):  # all chains of a trained model may keep their hidden units for a sweep
        page.keyboard.press("Enter")
    assert picture(page, name) != before
    tab_to(page, name, "Run")
    page.keyboard.press("Space")
    page.wait_for_timeout(300)
    assert page.evaluate("document.activeElement.textContent") == "Pause"
    page.keyboard.press("Space")
    stopped, words = picture(page, name), says(page, name)
    page.wait_for_timeout(200)
    assert picture(page, name) == stopped
    assert page.evaluate("document.activeElement.textContent") == "Run"
    tab_to(page, name, "Start again")
    page.keyboard.press("Enter")
    assert says(page, name) != words
    assert picture(page, name) == before, "the same seed, the same picture"


@pages
@pytest.mark.parametrize(
    ("name", "text"),
    [("digits", "β, from base"), ("wells", "steps"), ("ladder", "β₂"), ("bracket", "steps")],
)
def test_a_slider_moves_with_the_arrow_keys(visit, name, text):
    page = visit()
    before = says(page, name)
    tab_to(page, name, text)
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert name == "wells" or says(page, name) != before
    if name == "wells":
        page.locator("#moving-wells button", has_text="One step").press("Enter")
        assert "β = 0.02" in says(page, name)  # one step of 45


@pages
def test_with_reduced_motion_run_jumps_and_stands_still(visit):
    page = visit(reduced_motion="reduce")
    tab_to(page, "digits", "Run")
    page.keyboard.press("Space")
    assert "20 sweeps" in says(page, "digits")
    page.wait_for_timeout(200)
    assert "20 sweeps" in says(page, "digits")


@pages
@every_figure
def test_without_scripts_a_still_picture_stands_there(visit, name):
    page = visit(java_script_enabled=False)
    image = page.locator(f"#moving-{name} img")
    assert image.is_visible()
    assert len(image.get_attribute("alt")) > 40
    assert page.locator(f"#moving-{name} canvas").count() == 0


def number(text, before):
    return float(re.search(rf"{before}\s*(-?\d+(?:\.\d+)?)", text.replace("−", "-"))[1])


@pages
def test_what_the_figures_show_is_true(visit):
    """Numbers of the figures hold what the text beside them says."""
    page = visit()
    best = number(says(page, "ladder"), "Equal areas have")
    assert number(says(page, "ladder"), "Variance of log w:") > best
    page.locator("#moving-ladder button", has_text="Equal areas").press("Enter")
    assert number(says(page, "ladder"), "Variance of log w:") == pytest.approx(best, rel=0.02)
    text = says(page, "bracket")
    assert number(text, "mean forward") < 3 < number(text, "mean reverse")
    steps = page.locator("#moving-bracket input")
    steps.press("End")
    text = says(page, "bracket")
    assert 3 - 1 < number(text, "mean forward") < 3 < number(text, "mean reverse") < 3 + 1
    assert number(text, "log of the mean forward weight") == pytest.approx(3, abs=0.15)
    page.locator("#moving-wells select").select_option("narrow, on the left")
    play = page.locator("#moving-wells button", has_text="One step")
    play.evaluate("b => { for (let i = 0; i < 60; i++) b.click(); }")
    text = says(page, "wells")
    assert number(text, "log Z") < -0.8
    assert number(text, "effective sample size") > 50
    learn = page.locator("#moving-tempering button", has_text="One step")
    learn.evaluate("b => { for (let i = 0; i < 3000; i++) b.click(); }")
    text = says(page, "tempering")
    assert abs(number(text, "learned") - number(text, "exact")) < 0.7
    assert number(text, "changed sides") > 5
    page.locator("#moving-tempering button", has_text="Wrong guesses").press("Enter")
    learn.evaluate("b => { for (let i = 0; i < 1500; i++) b.click(); }")
    assert number(says(page, "tempering"), "changed sides") <= 2


@pages
def test_a_temperature_is_dragged(visit):
    page = visit(viewport={"width": 1200, "height": 900})
    canvas = page.locator("#moving-ladder canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x = box["x"] + box["width"] * (56 + 640 / 6) / 720  # the first line of equal steps
    before = says(page, "ladder")
    page.mouse.move(x, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(x - 40, box["y"] + 60)
    page.mouse.up()
    assert says(page, "ladder") != before
    value = float(page.locator("#moving-ladder input").first.input_value())
    assert value < 0.15


@pages
def test_the_front_figure_is_live_alone_and_still_without_a_script(browser):
    """And its count is the one that its caption tells, by the seed that it names."""
    front = PAGE.with_name("intro.html").as_uri()
    page = browser.new_page()
    page.goto(front)
    page.wait_for_selector("#front-live input")
    assert not page.locator("#front-live .front-still").is_visible()
    assert "105 of 200 chains" in page.locator("#front-live").inner_text()
    page.close()
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(front)
    assert plain.locator("#front-live .front-still").is_visible()
    plain.context.close()


@pages
def test_the_caption_of_the_front_figure_counts_its_seeds(browser):
    """The seed is one of 199, chosen: what the others give is said, and is what they give."""
    page = browser.new_page()
    page.goto(PAGE.with_name("intro.html").as_uri())
    counts = page.evaluate(
        """Array.from({length: 199}, (_, i) =>
        Hills.summary(Hills.ais(Hills.model(-2), 30, 200, Moving.random(i + 1))).agree)"""
    )
    caption = page.locator("figcaption", has_text="199 seeds").inner_text()
    assert f"199 seeds give {min(counts)} to {max(counts)}" in caption
    shown = int(page.locator(".front-says b").inner_text().partition(" ")[0])
    assert shown in counts
    assert f"On h20, a real model, {shown} of 200 chains agree" in caption
    page.close()
