"""L4: the rendered book as a reader's browser shows it, from disk and without a network.

Needs `make test_pages` to have rendered it and a Chromium on the PATH; without one the tests are
skipped, unless the environment variable RBMLIB_REQUIRE_BROWSER is set, which makes that an error.
"""

import re
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from helpers_book import chapter_name, chapter_paths, is_lesson, leaks, toc_entries
from helpers_pages import CUT, READY, SETTLED, SMALL, STILL, Places, violations

pytestmark = pytest.mark.pages

PAGES = toc_entries()
KIWAKI = "check/kiwaki2015"
LESSONS = {f"book/{chapter_name(path)}" for path in chapter_paths() if is_lesson(path)}
ONE_A_KIND = ["intro", "which", "learn/07_sams", "reproduction_notes", "api", "exercises/ais"]


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


def check_local(page, url: str):
    if urlsplit(url).scheme not in {"file", "data", "blob"}:
        page.complaints.append(f"wants the network: {url}")


@pytest.fixture(scope="module")
def page(tab, built, name):
    """Loaded once for all tests of the page, which follow each other."""
    tab.complaints.clear()
    tab.set_viewport_size({"width": 1400, "height": 900})
    tab.goto((built / f"{name}.html").as_uri())
    tab.add_style_tag(content=STILL)
    tab.evaluate(READY)
    return tab


def test_console_is_quiet_and_nothing_is_fetched(page):
    assert page.complaints == []


def test_maths_is_typeset(page):
    formulas = page.evaluate(
        """() => [...document.querySelectorAll('.math')].map(e => {
          const box = e.querySelector('mjx-container');
          return {tex: e.textContent.slice(0, 80),
                  drawn: !!box && box.childElementCount > 0 &&
                    (box.getBoundingClientRect().width > 0 || !e.checkVisibility()),
                  wrong: !!e.querySelector('mjx-merror, [data-mml-node="merror"]')};
        })"""
    )
    assert not [f["tex"] for f in formulas if not f["drawn"] or f["wrong"]]


def test_figures_are_loaded_and_described(page):
    images = page.evaluate(
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


def assert_all_is_seen(page, may_scroll: str, fits: str = "none", least: int = 11):
    """Nothing is cut off, and texts have so many pixels. Boxes that ``may_scroll`` begins do so
    with a bar, but not those that ``fits`` names."""
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    for found in page.evaluate(CUT):  # which unfolds everything
        assert (found["what"], found["name"].startswith(may_scroll)) == ("scrolls", True), found
        assert not found["name"].startswith(fits), found
    assert not page.evaluate(SMALL, least)


def test_nothing_is_cut_off(page, name):
    assert_all_is_seen(page, "pre", "mjx" if name in LESSONS else "none")


def test_accessibility(page):
    assert not (found := violations(page)), "\n".join(found)


def test_nothing_is_cut_off_on_a_phone(page, name):
    page.set_viewport_size({"width": 400, "height": 900})
    page.evaluate(SETTLED)
    assert_all_is_seen(page, "", "mjx" if name in LESSONS else "none", least=9)


@pytest.mark.parametrize("dark", ONE_A_KIND)
def test_colours_of_a_dark_page_are_told_apart(opened, dark):
    page = opened(f"book/{dark}.html", color_scheme="dark")
    page.add_style_tag(content=STILL)
    page.evaluate(READY)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert not (found := violations(page, by_colour=True)), "\n".join(found)


@pytest.mark.parametrize(("name", "shown"), [("check/kiwaki2015", False), ("learn/03_ais", True)])
def test_a_switch_hides_the_code_of_a_notebook(opened, name, shown):
    page = opened(f"book/{name}.html")
    code, switch = page.locator("div.cell_input").first, page.get_by_role("button", name="the code")
    for visible in (shown, not shown, shown):
        assert code.is_visible() == visible
        assert switch.inner_text() == f"{'Hide' if visible else 'Show'} the code"
        assert page.locator(".cell_output table").first.is_visible()
        switch.click()


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("reproduction_notes.html#kiwaki-f2-errors", KIWAKI, "#kiwaki-mostly-outperforms"),
        ("reproduction_notes.html#kiwaki-t1-cd120-varopt-ess", KIWAKI, "#kiwaki-table-1"),
        ("varopt_audit.html#kiwaki-t2-cd1500-gms13-ess", KIWAKI, "#kiwaki-table-2"),
        ("varopt_audit.html", KIWAKI, ""),
        ("ais.html#the-choice-of-base", "learn/03_ais", "#the-choice-of-base"),
        ("bench.html", "use/compare", "#bench"),
        ("bench.html#whom-to-believe", "use/compare", "#whom-to-believe"),
    ],
)
def test_an_address_of_old_leads_to_its_place_of_today(opened, old, new, place):
    page = opened(f"book/{old}")
    page.wait_for_url(f"**/{new}.html{place}")
    assert not place or page.locator(place).count() == 1


def test_the_list_of_claims_shows_only_what_is_chosen(opened):
    """By outcome and source, which a second press takes back; without a script it shows all."""
    page = opened("book/reproduction_notes.html")
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
    plain = opened("book/reproduction_notes.html", java_script_enabled=False)
    assert plain.locator(".v-list > li:visible").count() == every
    assert not plain.locator(".v-filter").is_visible()


def test_questions_lead_to_code_by_keyboard_and_answers_are_taken_back(opened):
    page = opened("book/which.html")
    title, code = page.locator(".ch-live h2"), page.locator(".ch-live pre")
    page.locator(".ch-live button").first.focus()
    # an RBM of -1 and +1, the second answer; no decisions, after the heading, which has the focus
    for key in ("Tab", "Enter", "Tab", "Enter"):
        page.keyboard.press(key)
    assert "rl.log_z" in title.inner_text()
    assert code.inner_text().startswith("rbm = rl.RBM(rl.Spin(b), rl.Spin(a), W)\n#")
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
    assert re.search(r"(?:\d\d_)?([\w.]+)\.html", found)[1] == FIRST[query]


def test_pages_can_be_previewed_and_print_no_label_or_repr(built):
    for name in PAGES:
        soup = BeautifulSoup((built / f"{name}.html").read_text(), "html.parser")
        for part in soup.select("article :is(pre, code, .math)"):
            part.decompose()
        assert not leaks(soup.article.get_text()), name
        assert 40 <= len(soup.find("meta", {"name": "description"})["content"]) <= 202, name
        picture = soup.find("meta", {"property": "og:image"})["content"]
        icon = soup.find("link", {"rel": "icon", "type": "image/svg+xml"})["href"]
        for address in (picture, icon):
            assert (built / name).parent.joinpath(address).resolve().is_file(), name


def test_links_lead_somewhere(built):
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
            elif target in pages and unquote(url.fragment) not in pages[target].anchors | {""}:
                broken.append(f"{path.name}: {url.geturl()} (no such place on that page)")
    assert followed > 50
    assert not broken, "\n".join(sorted(set(broken)))
