"""L4: the rendered book as a reader's browser shows it, from disk and without a network.

Needs `make book` first and a Chromium on the PATH; without one the tests are skipped, unless the
environment variable RBMLIB_REQUIRE_BROWSER is set, which makes that an error.
"""

import os
import shutil
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import REPOSITORY

pytestmark = pytest.mark.pages

HTML = REPOSITORY / "_build" / "html"
TOC = yaml.safe_load((REPOSITORY / "_toc.yml").read_text())
PAGES = [TOC["root"], *(c["file"] for part in TOC["parts"] for c in part["chapters"])]
SCHEMES = ["light", "dark"]
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
RULES = ["wcag2a", "wcag2aa", "wcag21aa"]

READY = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await document.fonts.ready;
}"""


def missing(reason: str):
    if os.environ.get("RBMLIB_REQUIRE_BROWSER"):
        pytest.fail(f"{reason} (RBMLIB_REQUIRE_BROWSER is set)")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def built():
    if not (HTML / ".done").exists():
        missing("the book is not rendered: run `make book`")
    return HTML


@pytest.fixture(scope="module")
def browser(built):
    paths = [path for name in BROWSERS if (path := shutil.which(name))]
    if not paths:
        missing(f"no browser: the page tests look for {', '.join(BROWSERS)} on the PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=paths[0], args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def visit(browser, built):
    """Open a page of the book in a colour scheme; each is opened once and kept open."""
    opened = {}

    def open_page(name, scheme="light", width=1280):
        key = (name, scheme, width)
        if key not in opened:
            context = browser.new_context(
                offline=True, color_scheme=scheme, viewport={"width": width, "height": 900}
            )
            page = context.new_page()
            page.complaints = []
            page.on("console", lambda m: m.type == "error" and page.complaints.append(m.text))
            page.on("pageerror", lambda error: page.complaints.append(str(error)))
            page.on("request", lambda r: check_local(page, r.url))
            page.on("requestfailed", lambda r: page.complaints.append(f"not loaded: {r.url}"))
            page.goto((built / f"{name}.html").as_uri())
            page.evaluate(READY)
            opened[key] = page
        return opened[key]

    return open_page


def check_local(page, url: str):
    if urlsplit(url).scheme not in {"file", "data", "blob"}:
        page.complaints.append(f"wants the network: {url}")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_console_is_quiet_and_nothing_is_fetched(visit, name, scheme):
    assert visit(name, scheme).complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_maths_is_typeset(visit, chapters, name):
    formulas = visit(name).evaluate(
        """() => [...document.querySelectorAll('.math')].map(e => {
          const box = e.querySelector('mjx-container');
          return {tex: e.textContent.slice(0, 80),
                  drawn: !!box && box.childElementCount > 0 &&
                    (box.getBoundingClientRect().width > 0 || !e.checkVisibility()),
                  wrong: !!e.querySelector('mjx-merror, [data-mml-node="merror"]')};
        })"""
    )
    assert not [f["tex"] for f in formulas if not f["drawn"] or f["wrong"]]
    if name in chapters:
        assert len(formulas) >= 3, "a chapter without formulas?"


@pytest.fixture(scope="module")
def chapters():
    return {f"book/{path.stem}" for path in (REPOSITORY / "book").glob("*.ipynb")}


@pytest.mark.parametrize("name", PAGES)
def test_figures_are_loaded_and_described(visit, chapters, name):
    images = visit(name).evaluate(
        """() => [...document.querySelectorAll('main img')].map(e =>
          ({alt: e.alt, file: e.src.split('/').pop(), width: e.naturalWidth}))"""
    )
    for image in images:
        assert image["width"] > 0, f"{image['file']} does not load"
        stem = image["file"].rsplit(".", 1)[0]
        assert image["alt"].strip(), f"{image['file']} has no alternative text"
        assert stem not in image["alt"], f"the alternative text of {image['file']} is its name"
    if name in chapters:
        assert images, "a chapter without a figure?"


@pytest.mark.parametrize("name", PAGES)
def test_one_header_one_search_field_one_title(visit, name):
    shown = visit(name).evaluate(
        """() => {
          const count = selector =>
            [...document.querySelectorAll(selector)].filter(e => e.checkVisibility()).length;
          return {headers: count('.bd-header-article'), bars: count('.bd-header .bd-header__inner'),
                  searches: count('.search-button-field, form.bd-search input, .search-button'),
                  titles: count('main h1')};
        }"""
    )
    assert shown == {"headers": 1, "bars": 0, "searches": 1, "titles": 1}


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out_sideways(visit, name, width):
    wide = visit(name, width=width).evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 0


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_accessibility(visit, name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = visit(name, scheme)
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
