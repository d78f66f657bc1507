"""L4: a question in the search field of the rendered book leads to the page that answers it."""

import pytest
from test_pages import browser, built  # noqa: F401

pytestmark = pytest.mark.pages

FIRST = {
    "which log Z estimator": {"which"},
    "AIS": {"ais"},
    "sample": {"rbmlib.sample"},
    "load_rbm": {"rbmlib.load_rbm"},
    "log-likelihood of my model": {"own_model"},
    "own model": {"own_model"},
    "install": {"install"},
    "GPU": {"install"},
    "cite": {"install"},
    "h500": {"models"},
    "pcd_10": {"models"},
    "spins": {"own_model"},
    "changelog": {"changelog"},
    "likelihood": {"own_model"},
    "partition function": {"start"},
    "error bar too small": {"calibration"},
}


@pytest.mark.parametrize("query", FIRST)
def test_the_page_that_answers_comes_first(browser, built, query):  # noqa: F811
    page = browser.new_context(offline=True).new_page()
    page.goto((built / "search.html").as_uri() + f"?q={query.replace(' ', '+')}")
    page.wait_for_function("() => /found|finished|did not match/.test(document.querySelector("
                           "'#search-results').innerText)", timeout=20_000)  # fmt: skip
    links = page.locator("#search-results li > a")
    found = [link.get_attribute("href").split("?")[0] for link in links.all()[:6]]
    page.context.close()
    first = found[0].rsplit("/", 1)[-1].partition(".html")[0]
    assert first in FIRST[query], found


def test_what_stands_under_a_result_is_the_article_around_a_whole_word(browser, built):  # noqa: F811
    page = browser.new_context(offline=True).new_page()
    page.goto((built / "search.html").as_uri())
    text = f"<p>A bound is raised. {'One more step. ' * 20}Then AIS says so.</p>"
    shown = page.evaluate(
        "text => Search.makeSearchSummary(text, new Set(stems('ais'))).innerText",
        f"<nav>AIS in the contents</nav><article class='bd-article'>{text}</article>",
    )
    page.context.close()
    assert shown.endswith("Then AIS says so.…")
    assert "raised" not in shown
    assert "contents" not in shown


def test_the_keyboard_goes_from_mark_to_mark_of_a_redrawn_figure(browser, built):  # noqa: F811
    page = browser.new_context(offline=True).new_page()
    page.goto((built / "book" / "reproduction_notes.html").as_uri())
    panel = page.locator(".v-panel")
    page.locator('.v-pin[href="#carlson-f8-10-sd"]').focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert "Rao-Blackwellized (RSD)" in panel.inner_text()
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    page.context.close()
