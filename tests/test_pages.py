"""L4: the rendered book as a reader's browser shows it, from disk and without a network.

Needs `make book` or `make pages` first and a Chromium on the PATH; without one the tests are
skipped, unless the environment variable RBMLIB_REQUIRE_BROWSER is set, which makes that an error.
"""

import re
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from helpers_book import (
    NIGHTLY,
    chapter_name,
    chapter_paths,
    is_lesson,
    leaks,
    toc_entries,
)
from helpers_pages import CUT, READY, SETTLED, SMALL, STILL, Places, violations

pytestmark = pytest.mark.pages

PAGES = [page for page, _ in toc_entries()]
CHAPTERS = {f"book/{chapter_name(path)}": path for path in chapter_paths()}
WIDTHS = {1400: "desk", 400: "phone"}
# By day: pages of each kind in dark; all but audits on a phone.
IN_DARK = {"book/intro", "book/which", "book/sams", "book/reproduction_notes", "book/api",
           "book/exercises/ais"}  # fmt: skip
KINDS_OF_EXERCISES = {f"book/exercises/{name}" for name in ("index", "ais", "line", "project")}
JUDGED = {page for page in PAGES if "/exercises/" not in page} | KINDS_OF_EXERCISES
ON_A_PHONE = {page for page in JUDGED if not page.endswith("_audit")}
LOADED_IN_DARK = {"book/intro", "book/sams", "book/api"}  # elsewhere a loaded page turns dark


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


def hidden_from_view(found: list[dict], width: int, fits: str = "none") -> list[str]:
    """Code may scroll, and on a phone any box but those that ``fits`` names, with a bar."""
    may = "pre" if WIDTHS[width] == "desk" else ""
    seen = [f for f in found if f["what"] == "scrolls" and f["name"].startswith(may)]
    seen = [f for f in seen if not f["name"].startswith(fits)]
    return [f"{f['what']}: {f['name']} {f['text']!r}" for f in found if f not in seen]


@each_page("width", {1400: PAGES, 400: ON_A_PHONE})
def test_nothing_is_cut_off(visit, name, width):
    fits = "mjx" if name in CHAPTERS and is_lesson(CHAPTERS[name]) else "none"
    page = visit(width=width)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    cut = hidden_from_view(page.evaluate(CUT), width, fits)
    assert not cut, "\n".join(cut)


@each_page("width", {1400: PAGES, 400: ON_A_PHONE})
def test_text_is_large_enough(visit, width):
    assert not visit(width=width).evaluate(SMALL, {"desk": 11, "phone": 9}[WIDTHS[width]])


def test_no_label_or_repr_is_printed(built, name):
    """Text of the page without code: what is printed by a notebook is read from its file."""
    assert not leaks(Places((built / f"{name}.html").read_text()).text)


@each_page("scheme", {"light": JUDGED, "dark": IN_DARK})
def test_accessibility(visit, scheme):
    found = violations(visit(scheme), scheme, every_element=NIGHTLY)
    assert not found, "\n".join(found)


def test_a_switch_hides_the_code_of_a_notebook(opened):
    page = opened("book/ais_audit.html")
    code, switch = page.locator("div.cell_input").first, page.get_by_role("button", name="Hide the")
    assert code.is_visible()
    switch.click()
    assert not code.is_visible()
    assert page.locator(".cell_output table").first.is_visible()
    switch.click()
    assert code.is_visible()


def test_a_printed_number_opens_what_is_said_of_it(opened):
    """By an address from outside, a click and the keyboard; Esc closes; and without a script."""
    address = "book/reproduction_notes.html"
    page = opened(f"{address}#kiwaki-t1-cd120-varopt-ess")
    panel = page.locator(".v-panel")
    panel.wait_for(state="visible")
    assert "87" in panel.inner_text()
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    cell = page.locator('.v-cell a[href="#wang-ais-h20-logz"]')
    cell.click()
    assert "218.23" in panel.inner_text()
    cell.focus()
    page.keyboard.press("ArrowRight")
    assert "19.4639" in panel.inner_text()
    page.keyboard.press("Escape")
    page.locator('.v-pin[href="#carlson-f8-10-sd"]').focus()  # a mark of a redrawn figure
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert "Rao-Blackwellized (RSD)" in panel.inner_text()
    plain = opened(address, java_script_enabled=False)
    plain.locator("details.v-all summary").first.click()
    assert plain.locator("#kiwaki-t1-cd120-varopt-ess").is_visible()


def test_questions_lead_to_code_by_keyboard_and_answers_are_taken_back(opened):
    page = opened("book/which.html")
    title, code = page.locator(".ch-live h2"), page.locator(".ch-live pre")
    page.locator(".ch-live button").first.focus()
    # an RBM of -1 and +1, the second answer; no decisions, after the heading, which has the focus
    for key in ("Tab", "Enter", "Tab", "Enter"):
        page.keyboard.press(key)
    assert "rl.log_z" in title.inner_text()
    assert code.inner_text().startswith("rbm = rl.RBM(rl.Spin(b), rl.Spin(a), W)\nestimate = rl.")
    assert page.url.endswith("#choose-log_z")
    for name in ("What do you want", "the method myself", "30 or fewer"):
        page.get_by_role("button", name=name).click()
    assert code.inner_text().startswith("rbm = rl.RBM(")
    assert "rl.exact(rbm)" in code.inner_text()
    page.get_by_role("button", name="All answers at once").click()
    assert page.locator(".chooser td pre").count() == 16


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_letters_of_a_question_are_pressed_by_pointer_and_keyboard(opened, width, scheme):
    page = opened("book/exercises/rts.html", width, color_scheme=scheme)
    first = page.locator(".quiz").first
    first.get_by_role("button", name="a").click()
    assert first.get_by_role("status").inner_text().startswith("(a) Not yet: ")
    first.get_by_role("button", name="d").focus()
    page.keyboard.press("Enter")
    assert first.get_by_role("status").inner_text().startswith("(d) Right. ")
    assert (first.locator(".good").count(), first.locator(".bad").count()) == (1, 0)
    plain = opened("book/exercises/rts.html", java_script_enabled=False)
    assert not plain.locator(".quiz").first.is_visible()


FIRST = {
    "which log Z estimator": "which", "AIS": "ais", "sample": "rbmlib.sample",
    "load_rbm": "rbmlib.load_rbm", "own model": "own_model", "GPU": "install", "cite": "install",
    "h500": "models", "partition function": "start", "error bar too small": "calibration",
}  # fmt: skip


@pytest.mark.parametrize("query", FIRST)
def test_search_finds_first_the_page_that_answers(opened, query):
    page = opened(f"search.html?q={query.replace(' ', '+')}")
    page.wait_for_function("() => /found|finished|did not match/.test(document.querySelector("
                           "'#search-results').innerText)", timeout=20_000)  # fmt: skip
    found = page.locator("#search-results li > a").first.get_attribute("href")
    assert found.split("?")[0].rsplit("/", 1)[-1] == f"{FIRST[query]}.html"


def test_pages_can_be_previewed(built):
    """Description, icon and picture: what stands in results of a search, and beside a link."""
    for name in PAGES:
        soup = BeautifulSoup((built / f"{name}.html").read_text(), "html.parser").head
        assert 40 <= len(soup.find("meta", {"name": "description"})["content"]) <= 202, name
        picture = soup.find("meta", {"property": "og:image"})["content"]
        icon = soup.find("link", {"rel": "icon", "type": "image/svg+xml"})["href"]
        for address in (picture, icon):
            assert (built / name).parent.joinpath(address).resolve().is_file(), name


def test_exercises_are_numbered_on_each_page_as_in_its_notebook(built):
    page = (built / "book" / "exercises" / "sams.html").read_text(encoding="utf-8")
    numbers = re.findall(r'caption-number">Exercise ([\d.]+) *</span>', page)
    assert numbers == [str(n) for n in range(1, 1 + len(numbers))] != []


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
