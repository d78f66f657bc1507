"""L4: the rendered book as a reader's browser shows it, from disk and without a network.

Needs `make book` or `make pages` first and a Chromium on the PATH; without one the tests are
skipped, unless the environment variable RBMLIB_REQUIRE_BROWSER is set, which makes that an error.
"""

import os
import shutil
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from helpers_book import REPOSITORY, chapter_paths, is_audit, is_lesson, leaks, toc_entries

pytestmark = pytest.mark.pages

HTML = REPOSITORY / "_build" / "html"
PAGES = [page for page, _ in toc_entries()]
CHAPTERS = {f"book/{path.stem}": path for path in chapter_paths()}
FIGURES_ONLY = {"book/calibration"}  # nothing is derived there
SCHEMES = ["light", "dark"]
WIDTHS = {1400: "desk", 400: "phone"}
SETTLED = 500  # milliseconds that the margins take to slide when the width changes
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
RULES = ["wcag2a", "wcag2aa", "wcag21aa"]

READY = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await document.fonts.ready;
}"""

# What is unfolded fades in: half-way its colours would be judged.
STILL = "*, ::before, ::after { animation: none !important; transition: none !important; }"

# Everything in the article that a reader cannot see whole. What is folded is opened first.
CUT = """() => {
  const article = document.querySelector('article.bd-article') || document.querySelector('main');
  article.querySelectorAll('details').forEach(e => { e.open = true; });
  article.querySelectorAll('.toggle-hidden').forEach(e => e.classList.remove('toggle-hidden'));
  const edge = Math.min(article.getBoundingClientRect().right,
                        document.documentElement.clientWidth) + 1.5;
  const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const inBox = e => {
    for (let up = e.parentElement; up && up !== article; up = up.parentElement)
      if (scrolls(up)) return true;
    return false;
  };
  const found = [];
  const say = (e, what) => {
    const name = e.tagName.toLowerCase() + '.' + [...e.classList].join('.');
    found.push({what, name, text: e.textContent.trim().slice(0, 60)});
  };
  for (const e of article.querySelectorAll('*')) {
    if (e.closest('.visually-hidden, .sr-only, script, style, svg, mjx-container mjx-container'))
      continue;
    if (e.closest('mjx-container') && !e.matches('mjx-container')) continue;
    if (!e.checkVisibility() || getComputedStyle(e).display === 'inline') continue;
    const box = e.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    if (box.right > edge && !inBox(e)) { say(e, 'sticks out'); continue; }
    if (box.left < -1.5 && !inBox(e)) { say(e, 'sticks out'); continue; }
    if (e.scrollWidth <= e.clientWidth + 1) continue;
    const formula = e.matches('span.math') && e.querySelector('mjx-container');
    if (formula && formula.getBoundingClientRect().width <= box.width + 1.5) continue;
    const style = getComputedStyle(e), overflow = style.overflowX;
    const bar = e.offsetHeight - e.clientHeight
      - parseFloat(style.borderTopWidth) - parseFloat(style.borderBottomWidth);
    if (['hidden', 'clip'].includes(overflow)) say(e, 'cut');
    else if (scrolls(e)) say(e, bar >= 4 ? 'scrolls' : 'scrolls unseen');
  }
  return found;
}"""


def missing(reason: str):
    if os.environ.get("RBMLIB_REQUIRE_BROWSER"):
        pytest.fail(f"{reason} (RBMLIB_REQUIRE_BROWSER is set)")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def built():
    if not (HTML / ".done").exists():
        missing("the book is not rendered: run `make pages`")
    return HTML


@pytest.fixture(scope="module")
def browser(built):
    paths = [path for name in BROWSERS if (path := shutil.which(name))]
    if not paths:
        missing(f"no browser: the page tests look for {', '.join(BROWSERS)} on the PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=paths[0],
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
            ignore_default_args=["--hide-scrollbars"],  # a reader has to see them
        )
        yield browser
        browser.close()


@pytest.fixture(
    scope="module",
    params=[pytest.param(page, marks=pytest.mark.xdist_group(page)) for page in PAGES],
)
def name(request):
    """A page of the contents: of the module's scope, so that its tests run one after the other.

    With pytest-xdist's ``--dist loadgroup`` all tests of a page run in one process.
    """
    return request.param


@pytest.fixture(scope="module")
def visit(browser, built, name):
    """The page in a colour scheme and of a width: opened once a scheme, closed before the next."""
    opened = {}

    def open_page(scheme="light", width=1400):
        if scheme not in opened:
            page = opened[scheme] = browser.new_context(
                offline=True, color_scheme=scheme, viewport={"width": width, "height": 900}
            ).new_page()
            load(page, built / f"{name}.html")
        page = opened[scheme]
        if page.viewport_size["width"] != width:
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(SETTLED)
        return page

    yield open_page
    for page in opened.values():
        page.context.close()


def load(page, path):
    page.complaints = []
    page.on("console", lambda m: m.type == "error" and page.complaints.append(m.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda r: check_local(page, r.url))
    page.on("requestfailed", lambda r: page.complaints.append(f"not loaded: {r.url}"))
    page.goto(path.as_uri())
    page.add_style_tag(content=STILL)
    page.evaluate(READY)


def check_local(page, url: str):
    if urlsplit(url).scheme not in {"file", "data", "blob"}:
        page.complaints.append(f"wants the network: {url}")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_console_is_quiet_and_nothing_is_fetched(visit, scheme):
    assert visit(scheme).complaints == []


def test_maths_is_typeset(visit, name):
    formulas = visit().evaluate(
        """() => [...document.querySelectorAll('.math')].map(e => {
          const box = e.querySelector('mjx-container');
          return {tex: e.textContent.slice(0, 80),
                  drawn: !!box && box.childElementCount > 0 &&
                    (box.getBoundingClientRect().width > 0 || !e.checkVisibility()),
                  wrong: !!e.querySelector('mjx-merror, [data-mml-node="merror"]')};
        })"""
    )
    assert not [f["tex"] for f in formulas if not f["drawn"] or f["wrong"]]
    if name in CHAPTERS and not (is_audit(CHAPTERS[name]) or name in FIGURES_ONLY):
        assert len(formulas) >= 3, "a chapter without formulas?"


def test_figures_are_loaded_and_described(visit, name):
    images = visit().evaluate(
        """() => [...document.querySelectorAll('main img')].map(e =>
          ({alt: e.alt, file: e.src.split('/').pop(), width: e.naturalWidth}))"""
    )
    for image in images:
        assert image["width"] > 0, f"{image['file']} does not load"
        stem = image["file"].rsplit(".", 1)[0]
        assert image["alt"].strip(), f"{image['file']} has no alternative text"
        assert stem not in image["alt"], f"the alternative text of {image['file']} is its name"
    if name in CHAPTERS and not name.endswith("_audit"):
        assert images, "a chapter without a figure?"


def test_one_header_one_search_field_one_title(visit):
    shown = visit().evaluate(
        """() => {
          const count = selector =>
            [...document.querySelectorAll(selector)].filter(e => e.checkVisibility()).length;
          return {headers: count('.bd-header-article'), bars: count('.bd-header .bd-header__inner'),
                  searches: count('.search-button-field, form.bd-search input, .search-button'),
                  titles: count('main h1')};
        }"""
    )
    assert shown == {"headers": 1, "bars": 0, "searches": 1, "titles": 1}


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out_sideways(visit, width):
    wide = visit(width=width).evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 0


def hidden_from_view(found: list[dict], width: int) -> list[str]:
    """On a phone a box may scroll, with a bar that shows; on a desk everything fits its column."""
    allowed = {"scrolls"} if WIDTHS[width] == "phone" else set()
    return [f"{f['what']}: {f['name']} {f['text']!r}" for f in found if f["what"] not in allowed]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off(visit, name, width):
    if name in CHAPTERS and not (is_lesson(CHAPTERS[name]) or is_audit(CHAPTERS[name])):
        pytest.skip("a chapter that is not a lesson yet")
    cut = hidden_from_view(visit(width=width).evaluate(CUT), width)
    assert not cut, "\n".join(cut)


CROOKED = {
    "<table><tr><td>" + "<b>wide</b>&nbsp;" * 300 + "</td></tr></table>": "sticks out",
    "<p style='overflow:hidden;white-space:nowrap'>" + "word " * 300 + "</p>": "cut",
    "<pre style='overflow-x:auto;margin:0'>" + "word " * 300 + "</pre>": "scrolls",
    "<div style='overflow-x:auto;scrollbar-width:none;white-space:nowrap'>"
    + "word " * 300
    + "</div>": "scrolls unseen",
    "<details><summary>more</summary><div style='width:3000px'>word</div></details>": "sticks out",
    "<p>" + "word " * 300 + "</p>": None,
}


@pytest.mark.parametrize("html", CROOKED, ids=lambda html: html[:30])
@pytest.mark.parametrize("width", WIDTHS)
def test_what_counts_as_cut_off(browser, html, width):
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    page.set_content(f"<main><article class='bd-article'>{html}</article></main>")
    found = page.evaluate(CUT)
    page.context.close()
    assert {f["what"] for f in found} - {"sticks out"} == {CROOKED[html]} - {"sticks out", None}
    assert any(f["what"] == "sticks out" for f in found) == (CROOKED[html] == "sticks out")
    fits = CROOKED[html] is None or (CROOKED[html] == "scrolls" and WIDTHS[width] == "phone")
    assert (not hidden_from_view(found, width)) == fits


def test_no_label_or_repr_is_printed(built, name):
    """Text of the page without code: what is printed by a notebook is read from its file."""
    if name in CHAPTERS and not (is_lesson(CHAPTERS[name]) or is_audit(CHAPTERS[name])):
        pytest.skip("a chapter that is not a lesson yet")
    soup = BeautifulSoup((built / f"{name}.html").read_text(), "html.parser").find("article")
    for code in soup.select("pre, code, .math"):
        code.decompose()
    assert not leaks(soup.get_text())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_accessibility(visit, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = visit(scheme)
    options = {"runOnly": {"type": "tag", "values": RULES}, "preload": False}
    found = Axe().run(page, options=options).response
    assert len(found["passes"]) >= 10, "axe judged hardly anything"
    violations = [
        f"{rule['id']}: {node['target']} {node['html'][:200]} {node.get('failureSummary', '')}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
    assert not violations, "\n".join(violations)


def test_search_finds_a_chapter(browser, built):
    page = browser.new_context(offline=True).new_page()
    page.goto((built / "search.html").as_uri() + "?q=partition")
    page.wait_for_selector("#search-results li a", timeout=10_000)


def test_links_lead_somewhere(built):
    """Every relative link and fragment of every page, followed on disk."""
    soups = {path: BeautifulSoup(path.read_text(), "html.parser") for path in built.rglob("*.html")}
    soups = {path: soup for path, soup in soups.items() if "_static" not in path.parts}
    anchors = {
        path: {tag[key] for key in ("id", "name") for tag in soup.find_all(attrs={key: True})}
        for path, soup in soups.items()
    }
    broken, followed = [], 0
    for path, soup in soups.items():
        for link in soup.select("a[href], link[href], script[src], img[src]"):
            url = urlsplit(link.get("href") or link.get("src"))
            if url.scheme or url.netloc:
                continue
            followed += 1
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if not target.is_file():
                broken.append(f"{path.name}: {url.geturl()}")
            elif (
                url.fragment and target in anchors and unquote(url.fragment) not in anchors[target]
            ):
                broken.append(f"{path.name}: {url.geturl()} (no such place on that page)")
    assert followed > 50
    assert not broken, "\n".join(sorted(set(broken)))
