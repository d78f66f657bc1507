"""L4: the rendered book as a reader's browser shows it, from disk and without a network.

Needs `make book` or `make pages` first and a Chromium on the PATH; without one the tests are
skipped, unless the environment variable RBMLIB_REQUIRE_BROWSER is set, which makes that an error.
"""

import json
import os
import shutil
from urllib.parse import unquote, urlsplit

import pytest
from helpers_book import (
    NIGHTLY,
    REPOSITORY,
    chapter_name,
    chapter_paths,
    is_audit,
    is_lesson,
    leaks,
    toc_entries,
)
from helpers_pages import CUT, READY, SETTLED, SMALL, STILL, Places, violations

pytestmark = pytest.mark.pages

HTML = REPOSITORY / "_build" / "tests" / "_build" / "html"
PAGES = [page for page, _ in toc_entries()]
CHAPTERS = {f"book/{chapter_name(path)}": path for path in chapter_paths()}
FIGURES_ONLY = {"book/calibration"}  # nothing is derived there
WIDTHS = {1400: "desk", 400: "phone"}
# By day: pages of each kind in dark; all but audits on a phone.
IN_DARK = {"book/intro", "book/which", "book/sams", "book/reproduction_notes", "book/api",
           "book/exercises/ais"}  # fmt: skip
KINDS_OF_EXERCISES = {f"book/exercises/{name}" for name in ("index", "ais", "line", "project")}
JUDGED = {page for page in PAGES if "/exercises/" not in page} | KINDS_OF_EXERCISES
ON_A_PHONE = {page for page in JUDGED if not page.endswith("_audit")}
LOADED_IN_DARK = {"book/intro", "book/sams", "book/api"}  # elsewhere a loaded page turns dark
WITHOUT_SIDEBAR = 3  # of the built pages: index.html, genindex and the like
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]


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


def each_page(setting, by_day: dict):
    """Every page in every setting; a page that is not in the set of the setting, at night."""
    cases = [
        pytest.param(page, value, marks=[
            pytest.mark.xdist_group(page), *[pytest.mark.nightly][: page not in pages]])
        for value, pages in by_day.items() for page in PAGES
    ]  # fmt: skip
    return pytest.mark.parametrize(("name", setting), cases, indirect=["name"])


@pytest.fixture(scope="module")
def tab(browser):
    """One tab for all pages: a new one costs as much as loading most pages."""
    page = browser.new_context(offline=True).new_page()
    page.complaints = []
    page.on("console", lambda m: m.type == "error" and page.complaints.append(m.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda r: check_local(page, r.url))
    page.on("requestfailed", lambda r: page.complaints.append(f"not loaded: {r.url}"))
    yield page
    page.context.close()


@pytest.fixture(scope="module")
def visit(tab, built, name):
    """The page in a colour scheme and of a width: loaded once, and then turned and narrowed."""
    shown = {}

    def open_page(scheme="light", width=1400):
        if not shown or (shown["scheme"] != scheme and name in LOADED_IN_DARK):
            tab.complaints.clear()
            tab.set_viewport_size({"width": width, "height": 900})
            tab.emulate_media(color_scheme=scheme)
            load(tab, built / f"{name}.html")
        elif shown["scheme"] != scheme:
            tab.emulate_media(color_scheme=scheme)
            tab.evaluate(SETTLED)
        if tab.viewport_size["width"] != width:
            tab.set_viewport_size({"width": width, "height": 900})
            tab.evaluate(SETTLED)
        shown.update(scheme=scheme)
        assert tab.evaluate("() => document.documentElement.dataset.theme") == scheme
        return tab

    return open_page


def load(page, path):
    page.goto(path.as_uri())
    page.add_style_tag(content=STILL)
    page.evaluate(READY)


def check_local(page, url: str):
    if urlsplit(url).scheme not in {"file", "data", "blob"}:
        page.complaints.append(f"wants the network: {url}")


@each_page("scheme", {"light": PAGES, "dark": IN_DARK})
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
        """() => [
          ...document.querySelectorAll('main img, main svg.book-figure:not(.tall)')].map(e =>
          ({alt: e.alt ?? e.getAttribute('aria-label'), file: (e.src ?? e.id).split('/').pop(),
            width: e.naturalWidth ?? e.getBoundingClientRect().width}))"""
    )
    for image in images:
        assert image["width"] > 0, f"{image['file']} does not load"
        stem = image["file"].rsplit(".", 1)[0]
        assert image["alt"].strip(), f"{image['file']} has no alternative text"
        assert not stem or stem not in image["alt"], f"its alternative text is its name, {stem}"
    if name in CHAPTERS and not is_audit(CHAPTERS[name]):
        assert images, "a chapter without a figure?"


def test_one_header_one_search_field_one_title(visit):
    shown = visit().evaluate(
        """() => {
          const count = selector =>
            [...document.querySelectorAll(selector)].filter(e => e.checkVisibility()).length;
          return {headers: count('.bd-header .bd-header__inner'), doors: count('.site-doors'),
                  searches: count('.search-button-field, form.bd-search input, .search-button'),
                  titles: count('main h1')};
        }"""
    )
    assert shown == {"headers": 1, "doors": 1, "searches": 1, "titles": 1}


@each_page("width", {1400: PAGES, 400: ON_A_PHONE})
def test_nothing_sticks_out_sideways(visit, width):
    wide = visit(width=width).evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 0


def hidden_from_view(found: list[dict], width: int, fits: str = "none") -> list[str]:
    """Code may scroll, and on a phone any box but those that ``fits`` names, with a bar."""
    may = "pre" if WIDTHS[width] == "desk" else ""
    seen = [f for f in found if f["what"] == "scrolls" and f["name"].startswith(may)]
    seen = [f for f in seen if not f["name"].startswith(fits)]
    return [f"{f['what']}: {f['name']} {f['text']!r}" for f in found if f not in seen]


@each_page("width", {1400: PAGES, 400: ON_A_PHONE})
def test_nothing_is_cut_off(visit, name, width):
    fits = "mjx" if name in CHAPTERS and is_lesson(CHAPTERS[name]) else "none"
    cut = hidden_from_view(visit(width=width).evaluate(CUT), width, fits)
    assert not cut, "\n".join(cut)


@each_page("width", {1400: PAGES, 400: ON_A_PHONE})
def test_text_is_large_enough_and_code_is_neither_wrapped_nor_joined(visit, width):
    page = visit(width=width)
    least = {"desk": 11, "phone": 9}[WIDTHS[width]]
    assert not page.evaluate(SMALL, least)
    looks = page.evaluate("""() => [...document.querySelectorAll('main div.highlight pre')]
        .filter(e => !e.closest('.cell_output, .front-code .highlight-text'))
        .map(e => getComputedStyle(e))
        .map(s => [s.whiteSpace, s.fontVariantLigatures, s.fontFeatureSettings].join())""")
    assert set(looks) <= {"pre,none,normal"}


def test_text_is_680_px_wide_beside_its_notes(browser, built):
    page = browser.new_context(offline=True, viewport={"width": 1400, "height": 900}).new_page()
    load(page, built / "book" / "ais.html")
    right = {name: page.locator(name).first.bounding_box() for name in ("section > p", ".gloss")}
    page.context.close()
    assert right["section > p"]["width"] == 680
    assert right["section > p"]["x"] + 680 <= right[".gloss"]["x"]


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


@pytest.mark.nightly
@pytest.mark.parametrize("html", CROOKED, ids=lambda html: html[:30])
@pytest.mark.parametrize("width", WIDTHS)
def test_what_counts_as_cut_off(browser, html, width):
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    page.set_content(f"<main><article class='bd-article'>{html}</article></main>")
    found = page.evaluate(CUT)
    page.context.close()
    assert {f["what"] for f in found} - {"sticks out"} == {CROOKED[html]} - {"sticks out", None}
    assert any(f["what"] == "sticks out" for f in found) == (CROOKED[html] == "sticks out")
    fits = CROOKED[html] in (None, "scrolls")
    assert (not hidden_from_view(found, width)) == fits


def test_no_label_or_repr_is_printed(built, name):
    """Text of the page without code: what is printed by a notebook is read from its file."""
    assert not leaks(Places((built / f"{name}.html").read_text()).text)


@each_page("scheme", {"light": JUDGED, "dark": IN_DARK})
def test_accessibility(visit, scheme):
    found = violations(visit(scheme), scheme, every_element=NIGHTLY)
    assert not found, "\n".join(found)


FAINT = "<p style='color: #999; background: #aaa'>hardly to be read</p>"


@pytest.mark.nightly
@pytest.mark.parametrize("every_element", [False, True])
def test_a_faint_text_is_seen_among_many(browser, every_element):
    """One look is judged three times at most, but each look is."""
    page = browser.new_context().new_page()
    body = "".join(f"<p>plain text {i}</p><h2>{i}</h2><b>{i}</b><i>{i}</i>" for i in range(40))
    head = "<html lang='en'><title>t</title>"
    page.set_content(f"{head}<main><h1>t</h1>{body}</main>")
    assert not violations(page, "dark", every_element)
    page.set_content(f"{head}<main><h1>t</h1>{body}{FAINT}</main>")
    found = violations(page, "dark", every_element)
    page.context.close()
    assert len(found) == 1
    assert "hardly to be read" in found[0]


def test_rewrites_of_built_pages_change_as_many_places_as_the_theme_needs(built):
    """Another version of the theme, which they would miss in silence, changes these numbers."""
    found = json.loads((built / "rewrites.json").read_text(encoding="utf-8"))
    pages = found["pages"]
    assert pages > len(PAGES)
    assert found["groups of the sidebar"] == 4 * (pages - WITHOUT_SIDEBAR)
    assert found["toggles of the contents"] == pages - WITHOUT_SIDEBAR
    sources = len(list((built / "_modules").rglob("*.html")))  # which have one of two
    assert found["viewports"] == 2 * (pages - WITHOUT_SIDEBAR - 2) - sources  # search, one index
    assert found["names that are read aloud"] >= 2 * pages


def test_a_switch_hides_the_code_of_a_notebook(browser, built):
    page = browser.new_context(offline=True).new_page()
    load(page, built / "book" / "check" / "kiwaki2015.html")
    code = page.locator("div.cell_input").first
    assert code.is_visible()
    page.get_by_role("button", name="Hide the code").click()
    assert not code.is_visible()
    assert page.locator(".cell_output table").first.is_visible()
    page.get_by_role("button", name="Hide the code").click()
    assert code.is_visible()
    page.context.close()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("reproduction_notes.html#kiwaki-f2-errors", "#kiwaki-mostly-outperforms"),
        ("reproduction_notes.html#kiwaki-t1-cd120-varopt-ess", "#kiwaki-table-1"),
        ("varopt_audit.html#kiwaki-f1-sm08", "#kiwaki-fig1-sm08"),
        ("varopt_audit.html#kiwaki-t2-cd1500-gms13-ess", "#kiwaki-table-2"),
        ("varopt_audit.html", ""),
    ],
)
def test_an_address_that_a_claim_had_leads_to_its_card(browser, built, old, new):
    page = browser.new_context(offline=True).new_page()
    page.goto((built / "book").as_uri() + f"/{old}")
    page.wait_for_url("**/check/kiwaki2015.html*")
    assert page.url.endswith(f"check/kiwaki2015.html{new}")
    if new:
        assert page.locator(new).count() == 1
    page.context.close()


def test_the_list_of_claims_shows_only_what_is_chosen(browser, built):
    """By outcome and source, which a second press takes back; without a script it shows all."""
    page = browser.new_context(offline=True).new_page()
    address = (built / "book" / "reproduction_notes.html").as_uri()
    page.goto(address)
    lines = page.locator(".v-list > li:visible")
    every = lines.count()
    page.locator(".v-chip[data-source=Kiwaki]").click()
    assert lines.count() == 20
    assert page.locator(".v-count").inner_text() == f"20 of {every} claims"
    page.locator(".v-chip[data-outcome=depends]").click()
    found = lines.evaluate_all("all => all.map(e => [e.dataset.source, e.dataset.outcome].join())")
    assert set(found) == {"Kiwaki,depends"}
    page.locator(".v-chip[data-outcome=depends]").click()
    page.locator(".v-chip[data-source=Kiwaki]").click()
    assert (lines.count(), page.locator(".v-count").inner_text()) == (every, "")
    page.context.close()
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(address)
    assert plain.locator(".v-list > li:visible").count() == every
    assert not plain.locator(".v-filter").is_visible()
    plain.context.close()


def test_questions_lead_to_code_by_keyboard_and_answers_are_taken_back(browser, built):
    page = browser.new_context(offline=True).new_page()
    page.goto((built / "book" / "which.html").as_uri())
    title, code = page.locator(".ch-live h2"), page.locator(".ch-live pre")
    page.locator(".ch-live button").first.focus()
    # an RBM of -1 and +1, the second answer; no decisions, after the heading, which has the focus
    for key in ("Tab", "Enter", "Tab", "Enter"):
        page.keyboard.press(key)
    assert "rl.log_z" in title.inner_text()
    assert code.inner_text().startswith("rbm = rl.RBM(rl.Spin(b), rl.Spin(a), W)\nestimate = rl.")
    assert page.url.endswith("#choose-log_z")
    page.get_by_role("button", name="What do you want").click()
    page.get_by_role("button", name="the method myself").click()
    page.get_by_role("button", name="30 or fewer").click()
    assert code.inner_text().startswith("rbm = rl.RBM(")
    assert "rl.exact(rbm)" in code.inner_text()
    page.get_by_role("button", name="All answers at once").click()
    assert page.locator(".chooser td pre").count() == 16
    page.context.close()


def test_search_finds_a_chapter(browser, built):
    page = browser.new_context(offline=True).new_page()
    page.goto((built / "search.html").as_uri() + "?q=partition")
    page.wait_for_selector("#search-results li a", timeout=10_000)


def test_links_lead_somewhere(built):
    """Every relative link and fragment of every page, followed on disk."""
    paths = [path for path in built.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Places(path.read_text()) for path in paths}
    broken, followed, files = [], 0, {}
    for path, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            followed += 1
            key = path.parent, url.path
            if key not in files:
                target = (path.parent / unquote(url.path)).resolve() if url.path else path
                files[key] = target if target.is_file() else None
            target = path if not url.path else files[key]
            if target is None:
                broken.append(f"{path.name}: {url.geturl()}")
            elif (
                url.fragment
                and target in pages
                and unquote(url.fragment) not in pages[target].anchors
            ):
                broken.append(f"{path.name}: {url.geturl()} (no such place on that page)")
    assert followed > 50
    assert not broken, "\n".join(sorted(set(broken)))
