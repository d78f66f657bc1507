"""The figures that open the lessons, and the cockpit: by pointer and keyboard, wide and narrow."""

import itertools
import shutil

import numpy as np
import pytest
import yaml
from helpers_book import BOOK, REPOSITORY

HTML = REPOSITORY / "_build" / "tests" / "_build" / "html" / "book"
SCENES = yaml.safe_load((BOOK / "scenes.yml").read_text(encoding="utf-8"))
LESSONS = yaml.safe_load((BOOK / "lessons.yml").read_text(encoding="utf-8"))
pytestmark = pytest.mark.pages


@pytest.fixture(scope="module")
def browser():
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None or not HTML.is_dir():
        pytest.skip("needs rendered pages and a Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def visit(browser, name, width=1400, **settings):
    page = browser.new_page(viewport={"width": width, "height": 900}, **settings)
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto((HTML / f"{name}.html").as_uri())
    return page


def changed(page, selector, was):
    """Wait until what a figure shows is no longer what it showed; a dial alone is not enough."""
    page.wait_for_function(
        "([s, was]) => [...document.querySelectorAll(s)].some(e => !was.includes(e.innerHTML))",
        arg=[selector, was], timeout=10_000,
    )  # fmt: skip


def test_every_lesson_opens_with_a_question_that_has_one_right_choice():
    assert set(SCENES) == set(LESSONS) - {"compare", "proteins"} | {"bracket", "digits"}
    for scene in SCENES.values():
        assert len(scene["choices"]) == 3
        assert 0 <= scene["right"] < 3


TURNS = [(1400, "light"), (400, "dark")]  # each scene takes one by day, and both at night
EACH = [
    pytest.param(name, *turn, marks=[pytest.mark.nightly][: (place + k) % 2])
    for place, name in enumerate(SCENES) for k, turn in enumerate(TURNS)
]  # fmt: skip


@pytest.mark.parametrize(("name", "width", "scheme"), EACH)
def test_a_choice_shows_the_answer_and_the_dials_move_the_picture(browser, name, width, scheme):
    page = visit(browser, name if name in LESSONS else "moving_figures", width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    scene = page.locator(f'figure[data-scene="{name}"]')
    says, bar = scene.locator(".scene-says"), scene.locator(".scene-bar")
    assert not says.is_visible()
    assert not bar.is_visible()
    before = scene.locator("svg").inner_html()
    scene.locator(".scene-choices button").nth(SCENES[name]["right"]).focus()
    page.keyboard.press("Enter")
    assert scene.locator(".scene-choices .good").count() == 1
    assert scene.locator(".scene-choices .bad").count() == 0
    assert says.is_visible()
    assert scene.locator(".scene-answer p").is_visible()
    shown = scene.locator("svg").inner_html()
    assert shown != before
    for dial in bar.locator("input").all():
        was = scene.inner_html()
        dial.focus()
        page.keyboard.press("ArrowRight" if dial.input_value() == "0" else "ArrowLeft")
        changed(page, "figure.scene :is(svg, .scene-says)", was)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
    page.close()


@pytest.mark.parametrize(("width", "scheme"), [(1400, "dark"), (400, "light")])
def test_a_pointer_chooses_moves_the_dials_and_drags_the_base(browser, width, scheme):
    page = visit(browser, "moving_figures", width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    for name, scene in SCENES.items():
        mine = f'figure[data-scene="{name}"]'
        figure, shown = page.locator(mine), f"{mine} :is(svg, .scene-says)"
        figure.locator(".scene-choices button").nth(scene["right"]).click()
        assert figure.locator(".scene-choices .good").count() == 1
        for dial in figure.locator(".scene-bar input").all():
            was, size = figure.inner_html(), dial.bounding_box()
            low = "e => e.value - e.min < (e.max - e.min) / 2"
            share = 0.8 if dial.evaluate(low) else 0.2
            dial.click(position={"x": share * size["width"], "y": size["height"] / 2})
            changed(page, shown, was)
        if figure.locator("circle.handle").count():
            was, handle = figure.inner_html(), figure.locator("circle.handle")
            handle.scroll_into_view_if_needed()
            box = handle.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + (50 if x < width / 3 else -50), y)
            page.mouse.up()
            changed(page, shown, was)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
    page.close()


def test_without_a_script_the_question_and_its_answer_can_be_read(browser):
    page = visit(browser, "ais", java_script_enabled=False)
    scene = page.locator("figure.scene").first
    assert scene.locator(".scene-choices li").count() == 3
    scene.locator("summary").click()
    assert scene.locator(".scene-answer p").is_visible()
    page.close()


def test_what_questions_and_answers_say_is_what_the_page_computes(browser):
    page = visit(browser, "start")
    number = """n => (({found: f}) => [f.agree, f.at.toFixed(2), f.ess])(
        Scene.all.ais.run(n, Scene.all.ais.seed))"""
    agree, at, ess = page.evaluate(number, {"base": -2, "apart": 2, "steps": 30})
    assert f"{agree} of them agree to half a nat, at {at}." in SCENES["start"]["asks"]
    between, large = (
        page.evaluate(number, {"base": b, "apart": 2, "steps": 30})[2] for b in (0, 2)
    )
    assert round(ess) == 11  # as the lesson's own run has
    assert "ESS 11\\n" in (BOOK / "start.ipynb").read_text(encoding="utf-8")
    assert 45 < between < 60
    assert large > 175
    run = "([name, v, seed]) => Scene.all[name].run(v ?? Scene.all[name].start, seed ?? 123)"
    chain = page.evaluate(run, ["mcmc_basics"])
    assert (chain["onLarge"], chain["crossed"]) == (0, 0)
    assert (
        page.evaluate(run, ["mcmc_basics", {"apart": 2, "sweeps": 2000, "width": 0.7}])["crossed"]
        == 1
    )
    steps = page.evaluate(run, ["varopt"])
    crowded = min(itertools.pairwise(steps["cut"]), key=lambda pair: pair[1] - pair[0])
    assert 0.6 < crowded[0] < crowded[1] < 0.8
    assert steps["best"] < 0.7 * steps["equal"]
    assert steps["now"] == pytest.approx(steps["best"])
    costs = [
        page.evaluate(run, ["varopt", {"base": -3, "apart": 3, "steps": 12, "placed": p}])["now"]
        for p in (0, 0.9, 1.1)
    ]
    assert costs[0] == pytest.approx(steps["equal"])
    assert min(costs) > steps["best"]
    ways = page.evaluate(run, ["bracket"])
    up, down = (np.histogram(ways[way], np.arange(8, 26.5, 0.5))[0] for way in ("up", "down"))
    assert all(up[22:24] > down[22:24])  # 19 to 20 nats, below log Z
    assert all(up[24:26] < down[24:26])
    visits = page.evaluate(run, ["rts"])["visits"]
    assert sum(visits[-3:]) > 0.5
    accepted = page.evaluate(run, ["rts_continuous"])["shares"]
    assert accepted[0] > 0.9
    assert accepted[-1] < 0.15
    flood = page.evaluate(run, ["sams", {"base": 0, "apart": 2, "sweeps": 5}])["visits"]
    assert flood[-1] >= 4
    assert min(page.evaluate(run, ["sams", {"base": 0, "apart": 2, "sweeps": 200}])["visits"]) > 0
    fitted = page.evaluate(run, ["tap"])
    assert fitted["here"] == pytest.approx(12, abs=0.01)
    line = page.evaluate(run, ["tracking"])
    assert -2 < line["lag"] < -1.5
    assert line["noise"] < 0.2
    wrong = page.evaluate(run, ["leaky_rbm", None, 5])
    assert wrong["wrong"][-1] < wrong["wrong"][0] < -0.05
    assert abs(wrong["good"][-1]) < 0.02
    page.close()


def test_log_z_of_the_hills_is_exact_and_the_methods_estimate_it(browser):
    page = visit(browser, "which")
    for base, apart in ((-2, 1.3), (1, 2), (0, 3.6)):
        ends = page.evaluate(f"(m => [m.logZ(0), m.logZ(1)])(Hills.model({base}, {apart}))")
        assert ends == pytest.approx([0, 20], abs=1e-3)
    # Four steps: chains that move before they are weighed are .09 nats too high, either way.
    way = """() => { const m = Hills.model(0.6, 1), rng = Hills.random(3), n = 40000;
      const ends = Array.from({length: n}, () => m.draw(rng));
      return [-Hills.logMeanExp(Hills.reverse(m, 4, ends, rng).map((c) => -c.w)),
        Hills.summary(Hills.ais(m, 4, n, rng)).logZ]; }"""
    assert page.evaluate(way) == pytest.approx([20, 20], abs=0.04)
    walk = """() => { const m = Hills.model(1, 1.5), betas = [0, 0.25, 0.5, 0.75, 1];
      const starts = Array.from({length: 60}, (_, i) => (i % 2 ? [1.5, 4] : [1, 0]));
      const right = betas.map((b) => m.logZ(b)), off = right.map((z, k) => z - k / 2);
      const run = (guess, learn) => Hills.mean(Hills.temper(m, {rungs: 4, sweeps: 4000, starts,
        guess, learn}, Hills.random(3)).map((r) => r.logZ));
      return [run(right), run(off), run(betas.map(() => 0), Hills.gains(500))]; }"""
    assert page.evaluate(walk) == pytest.approx([20, 20, 20], abs=0.05)
    page.close()


@pytest.mark.parametrize("width", [1400, 400])
def test_the_cockpit_breaks_all_four_methods_and_only_the_sum_says_so(browser, width):
    page = visit(browser, "which", width)
    cockpit = page.locator("#cockpit")
    assert "All four are right" in cockpit.locator(".scene-says").inner_text()
    cockpit.get_by_role("button", name="Break it").click()
    assert cockpit.locator("tbody tr").count() == 4
    for row in cockpit.locator("tbody tr").all():
        assert "trusts" in row.inner_text()
        assert "contradicted" in row.inner_text()
    assert "4 of 4 are wrong, and 4 of these trust" in cockpit.locator(".scene-says").inner_text()
    was = cockpit.inner_html()
    cockpit.locator("input").first.focus()
    page.keyboard.press("ArrowRight")
    changed(page, "#cockpit tbody", was)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
    page.close()
