"""Moving figures that belong to no lesson: their weights, the page of all, and the front page."""

import base64
import re
import shutil
import sys

import numpy as np
import pytest
import yaml
from helpers_book import BOOK, REPOSITORY

import rbmlib as rl

STATIC = BOOK / "_ext" / "static" / "moving"
HTML = REPOSITORY / "_build" / "tests" / "_build" / "html" / "book"
SCENES = yaml.safe_load((BOOK / "scenes.yml").read_text(encoding="utf-8"))

sys.path.insert(0, str(BOOK / "_tools"))
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
    assert sum(p.stat().st_size for p in STATIC.iterdir()) < 100_000


pages = pytest.mark.pages


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if not HTML.is_dir() or not path:
        pytest.skip("needs `make pages` and a Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    contexts = []

    def open_page(name, **settings):
        context = browser.new_context(offline=True, **settings)
        contexts.append(context)
        page = context.new_page()
        page.goto((HTML / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pages
def test_the_page_of_all_figures_names_the_lesson_of_each(visit):
    page = visit("moving_figures")
    assert page.locator("figure.scene svg").count() == len(SCENES)
    for name, scene in SCENES.items():
        section = page.locator("section", has=page.locator(f'figure[data-scene="{name}"]')).last
        assert scene["title"] in section.locator("h2").inner_text()
        lesson = section.locator("p a.reference.internal").first.get_attribute("href")
        assert lesson == f"{scene.get('lesson', name)}.html"


def digits(page):
    figure = page.locator('figure[data-scene="digits"]')
    return figure, figure.locator("image").get_attribute("href")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pages
def test_digits_are_those_of_the_model_and_the_base_is_one_blur(visit):
    page = visit("moving_figures")
    figure, drawn = digits(page)
    figure.get_by_role("button", name="the same blur").click()
    assert digits(page)[1] != drawn
    run = "([beta, sweeps]) => Scene.all.digits.run({beta, sweeps}, 3).map(p => [...p])"
    rbm = rl.load_rbm(moving_weights.MODEL)
    blur = np.array(page.evaluate(run, [0, 3]))
    base = rl.base_rate(rl.datasets.load_mnist().train)
    assert np.allclose(blur, sigmoid(base), atol=0.03)  # weights are stored in 8 bits
    drawn = np.array(page.evaluate(run, [1, 60])) > 0.5
    ours, rng = np.tile(sigmoid(base), (200, 1)), np.random.default_rng(1)
    for _ in range(60):
        v = rng.random(ours.shape) < ours
        h = rng.random((200, rbm.n_hidden)) < sigmoid(v @ rbm.weights + rbm.hidden_bias)
        ours = sigmoid(h @ rbm.weights.T + rbm.visible_bias)
    here, there = (rbm.log_density(p.astype(np.uint8)) for p in (drawn, ours > 0.5))
    assert abs(here.mean() - there.mean()) < 4 * there.std() / 16**0.5
    assert (
        there.std() < 40 < abs(there.mean() - rbm.log_density((blur[:1] > 0.5).astype(np.uint8))[0])
    )


@pages
def test_a_base_is_dragged(visit):
    page = visit("intro", viewport={"width": 1200, "height": 900})
    handle, says = page.locator("circle.handle"), page.locator("#front-live .scene-says")
    handle.scroll_into_view_if_needed()  # the figure stands below the code
    box, before = handle.bounding_box(), says.inner_text()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 160, y + 20)
    page.mouse.up()
    page.wait_for_function(
        "was => !document.querySelector('.scene-says').innerText.includes(was)", arg=before
    )
    assert float(page.locator("#front-live input").first.input_value()) > 0
    moved = handle.bounding_box()
    assert moved["x"] == pytest.approx(box["x"] + 160, abs=6)


@pages
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_run_goes_through_the_values_or_jumps_to_the_last(visit, motion):
    page = visit("intro", reduced_motion=motion)
    steps = page.locator("#front-live label", has_text="Steps")
    run = page.get_by_role("button", name="Run")
    run.focus()
    page.keyboard.press("Space")
    if motion == "reduce":
        assert steps.locator("output").inner_text() == "400"
    else:
        assert steps.locator("output").inner_text() == "10"
        page.get_by_role("button", name="Pause").click()
        stopped = steps.locator("output").inner_text()
        page.wait_for_timeout(600)
        assert steps.locator("output").inner_text() == stopped


@pages
def test_the_front_figure_is_live_alone_and_still_without_a_script(visit):
    """And its count is the one that its caption tells, by the seed that it names."""
    page = visit("intro")
    page.wait_for_selector("#front-live input")
    assert page.locator("#front-live .scene-still").count() == 0
    says = page.locator("#front-live .scene-says").inner_text()
    assert "105 of 200 chains" in says
    assert "effective sample size, 11 of 200" in says  # as lesson 1 prints
    plain = visit("intro", java_script_enabled=False)
    assert [e.is_visible() for e in plain.locator("#front-live .scene-still").all()] == [
        True,
        False,
    ]


@pages
def test_the_caption_of_the_front_figure_counts_its_seeds(visit):
    """The seed is one of 199, chosen: what the others give is said, and is what they give."""
    page = visit("intro")
    counts = page.evaluate(
        """Array.from({length: 199}, (_, i) =>
        Hills.summary(Hills.ais(Hills.model(-2), 30, 200, Hills.random(i + 1))).agree)"""
    )
    caption = page.locator("figcaption", has_text="199 seeds").inner_text()
    assert f"199 seeds give {min(counts)} to {max(counts)}" in caption
    shown = int(page.locator(".scene-says b").inner_text().partition(" ")[0])
    assert shown in counts
    assert "the count of Figure 1" in caption
    assert f"own biases, {shown} lie" in page.locator("#fig-front figcaption").inner_text()
