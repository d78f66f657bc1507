"""Moving figures: by pointer and keyboard, wide and narrow, and what they compute."""

import itertools

import moving_weights
import numpy as np
import pytest
import yaml
from helpers_book import BOOK
from scipy.special import expit

import rbmlib as rl
from rbmbook.claims import by_name

SCENES = yaml.safe_load((BOOK / "scenes.yml").read_text(encoding="utf-8"))
LESSONS = yaml.safe_load((BOOK / "lessons.yml").read_text(encoding="utf-8"))
pytestmark = pytest.mark.pages


def changed(page, selector, was):
    """Wait until what a figure shows is no longer what it showed; a dial alone is not enough."""
    page.wait_for_function(
        "([s, was]) => [...document.querySelectorAll(s)].some(e => !was.includes(e.innerHTML))",
        arg=[selector, was], timeout=10_000,
    )  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_a_choice_shows_the_answer_and_the_dials_move_the_picture(opened, name):
    """Every second scene on a phone in the dark."""
    width, scheme = ((1400, "light"), (400, "dark"))[[*SCENES].index(name) % 2]
    own = by_name(BOOK)[name] if name in LESSONS else "moving_figures"
    page = opened(f"book/{own}.html", width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    scene = page.locator(f'figure[data-scene="{name}"]')
    says, bar = scene.locator(".scene-says"), scene.locator(".scene-bar")
    assert not says.is_visible()
    assert not bar.is_visible()
    before = scene.locator("svg").inner_html()
    scene.locator(".scene-choices button").nth(SCENES[name]["right"]).focus()
    page.keyboard.press("Enter")
    counts = [scene.locator(f".scene-choices .{kind}").count() for kind in ("good", "bad")]
    assert counts == [1, 0]
    assert says.is_visible()
    assert scene.locator(".scene-answer p").is_visible()
    assert scene.locator("svg").inner_html() != before
    for dial in bar.locator("input").all():
        was = scene.inner_html()
        dial.focus()
        page.keyboard.press("ArrowRight" if dial.input_value() == "0" else "ArrowLeft")
        changed(page, "figure.scene :is(svg, .scene-says)", was)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []


@pytest.mark.parametrize("page", ["moving_figures", "intro"])
def test_a_pointer_drags_the_base(opened, page):
    page = opened(f"book/{page}.html")
    figure = page.locator(mine := '[data-scene="start"]')
    if figure.locator(".scene-choices button").count():
        figure.locator(".scene-choices button").first.click()
    was, handle = figure.inner_html(), figure.locator("circle.handle")
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 50, y)
    page.mouse.up()
    changed(page, f"{mine} :is(svg, .scene-says)", was)
    assert handle.bounding_box()["x"] == pytest.approx(box["x"] - 50, abs=6)
    assert page.complaints == []


def test_without_a_script_the_question_and_its_answer_can_be_read(opened):
    page = opened("book/learn/03_ais.html", java_script_enabled=False)
    scene = page.locator("figure.scene").first
    assert scene.locator(".scene-choices li").count() == 3
    scene.locator("summary").click()
    assert scene.locator(".scene-answer p").is_visible()


def test_what_questions_and_answers_say_is_what_the_page_computes(opened):
    page = opened("book/learn/01_start.html")
    number = """n => (({found: f}) => [f.agree, f.at.toFixed(2), f.ess])(
        Scene.all.ais.run(n, Scene.all.ais.seed))"""
    agree, at, ess = page.evaluate(number, {"base": -2, "apart": 2, "steps": 30})
    said = f"{agree} of them agree to within half a nat (a unit of logarithms), near {at}."
    assert said in SCENES["start"]["asks"]
    between, large = (
        page.evaluate(number, {"base": b, "apart": 2, "steps": 30})[2] for b in (0, 2)
    )
    assert round(ess) == 11  # as the lesson's own run has
    assert "ESS 11\\n" in (BOOK / "learn/01_start.ipynb").read_text(encoding="utf-8")
    assert 45 < between < 60
    assert large > 175
    run = "([name, v, seed]) => Scene.all[name].run(v ?? Scene.all[name].start, seed ?? 123)"
    chain = page.evaluate(run, ["mcmc_basics"])
    assert (chain["onLarge"], chain["crossed"]) == (0, 0)
    far = page.evaluate(run, ["mcmc_basics", {"apart": 2, "sweeps": 2000, "width": 0.7}])
    assert far["crossed"] == 1
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


def test_log_z_of_the_hills_is_exact_and_the_methods_estimate_it(opened):
    page = opened("book/which.html")
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


@pytest.mark.parametrize("width", [1400, 400])
def test_the_cockpit_breaks_all_four_methods_and_only_the_sum_says_so(opened, width):
    page = opened("book/which.html", width)
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


def test_weights_are_those_of_the_committed_model():
    assert moving_weights.TARGET.read_text(encoding="utf-8") == moving_weights.script()
    weights = rl.load_rbm(moving_weights.MODEL).weights.ravel()
    text, scale = moving_weights.packed(weights)
    assert abs(moving_weights.unpacked(text, scale) - weights).max() <= scale / 2 + 1e-9


def test_digits_are_those_of_the_model_and_the_base_is_one_blur(opened):
    page = opened("book/moving_figures.html")
    figure = page.locator('figure[data-scene="digits"]')
    before = figure.locator("image").get_attribute("href")
    figure.get_by_role("button", name="the same blur").click()
    assert figure.locator("image").get_attribute("href") != before
    run = "([beta, sweeps]) => Scene.all.digits.run({beta, sweeps}, 3).map(p => [...p])"
    rbm = rl.load_rbm(moving_weights.MODEL)
    blur = np.array(page.evaluate(run, [0, 3]))
    base = rl.base_rate(rl.datasets.load_mnist().train)
    assert np.allclose(blur, expit(base), atol=0.03)  # weights are stored in 8 bits
    drawn = np.array(page.evaluate(run, [1, 60])) > 0.5
    ours, rng = np.tile(expit(base), (200, 1)), np.random.default_rng(1)
    for _ in range(60):
        v = rng.random(ours.shape) < ours
        h = rng.random((200, rbm.n_hidden)) < expit(v @ rbm.weights + rbm.hidden_bias)
        ours = expit(h @ rbm.weights.T + rbm.visible_bias)
    here, there = (rbm.log_density(p.astype(np.uint8)) for p in (drawn, ours > 0.5))
    assert abs(here.mean() - there.mean()) < 4 * there.std() / 16**0.5
    (flat,) = rbm.log_density((blur[:1] > 0.5).astype(np.uint8))
    assert there.std() < 40 < abs(there.mean() - flat)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_run_goes_through_the_values_or_jumps_to_the_last(opened, motion):
    page = opened("book/intro.html", reduced_motion=motion)
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


def test_the_front_figure_is_live_alone_and_its_captions_tell_its_counts(opened):
    page = opened("book/intro.html")
    page.wait_for_selector("#front-live input")
    assert page.locator("#front-live .scene-still").count() == 0
    says = page.locator("#front-live .scene-says").inner_text()
    assert "105 of 200 chains" in says
    assert "effective sample size, 11 of 200" in says  # as lesson 1 prints
    counts = page.evaluate(
        """Array.from({length: 199}, (_, i) =>
        Hills.summary(Hills.ais(Hills.model(-2), 30, 200, Hills.random(i + 1))).agree)"""
    )
    caption = page.locator("figcaption", has_text="199 seeds").inner_text()
    assert f"199 seeds, between {min(counts)} and {max(counts)} of the 200 chains" in caption
    assert 105 in counts
    caption = page.locator("#fig-front figcaption").inner_text()
    assert "own visible biases, 105 chains end" in caption
    plain = opened("book/intro.html", java_script_enabled=False)
    still = plain.locator("#front-live .scene-still").all()
    assert [e.is_visible() for e in still] == [True, False]
