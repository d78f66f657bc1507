"""Exercises: solutions pass their own checks, wrong answers are refused with a hint, right answers
by another way are accepted, and students' notebooks hold no solution."""

import ast
import contextlib
import re
import sys
from importlib import import_module

import numpy as np
import pytest
from helpers_answers import AIS, ANOTHER_WAY, HARMLESS, MOVE, START, TYPICAL, WEIGH, mutants
from helpers_book import NIGHTLY, REPOSITORY

from rbmbook import exercises
from rbmbook.exercises import checker
from rbmlib import schedules
from rbmlib.models import BernoulliRBM

sys.path.insert(0, str(REPOSITORY / "book" / "_tools"))
import exercises as tool

PAGES = {page.stem: page for page in tool.pages()}
every_page = pytest.mark.parametrize("page", PAGES)
pytestmark = pytest.mark.filterwarnings("ignore")


def text_of(page: str) -> str:
    return PAGES[page].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def solutions():
    """Every page with its solutions, run once: cells and variables."""
    found = {}

    def of(page):
        if page not in found:
            cells = tool.cells_of(text_of(page), teacher=True)
            found[page] = cells, tool.run(cells, "ada")
        return found[page]

    return of


@every_page
@pytest.mark.parametrize("name", ["ada", pytest.param("Chì Lí", marks=pytest.mark.nightly)])
def test_every_solution_has_all_marks(page, name, solutions):
    cells, space = solutions(page)
    check = (space if name == "ada" else tool.run(cells, name))["check"]
    assert check.own.name == name
    assert not [n for n, t in check.tasks.items() if check.marks[n] < t.points]


@every_page
def test_a_student_sees_no_solution_and_has_no_marks(page):
    cells = tool.cells_of(text_of(page), teacher=False)
    shown = "\n".join(cell.source for cell in cells)
    for part in tool.parts(text_of(page)):
        if part.kind == "solution":
            words, code = tool.solved(part)
            assert not code or code not in shown
            assert not words or tool.plain(words) not in shown
    assert "solution" not in shown.casefold().replace("solutions", "")
    assert not any(tool.run(cells, "ada")["check"].marks.values())


@every_page
def test_every_task_is_asked_once(page):
    text, tasks = text_of(page), exercises.tasks_of(page)
    assert [text.count(f'check("{name}"') for name in tasks] == [1] * len(tasks)
    assert len([p for p in tool.parts(text) if p.kind == "exercise"]) == len(tasks)


def coding_tasks():
    for page in PAGES:
        for name, task in exercises.tasks_of(page).items():
            if task.kind in ("coding", "step") and f"def {name}(" in text_of(page):
                yield pytest.param(page, name, id=f"{page}-{name}")


def function_in(cells, name: str) -> str:
    for cell in cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    return ast.unparse(node)
    raise LookupError(name)


def hint_for(space, name: str, code: str) -> str | None:
    copy = dict(space)
    with np.errstate(all="ignore"):
        exec(code, copy)
        return space["check"].judge(name, copy[name])


@pytest.mark.parametrize(("page", "name"), list(coding_tasks()))
def test_wrong_answers_are_refused(page, name, solutions):
    cells, space = solutions(page)
    wrong = mutants(function_in(cells, name))
    tried = list(wrong)[:: 1 if NIGHTLY else max(1, len(wrong) // 4)]
    accepted = {what for what in tried if hint_for(space, name, wrong[what]) is None}
    assert accepted <= set(HARMLESS.get(name, []))


@pytest.mark.parametrize(("page", "name", "expression", "words"), TYPICAL)
def test_a_typical_mistake_gets_its_hint(page, name, expression, words, solutions):
    cells, space = solutions(page)
    code = f"{name} = {expression}"
    if f"def {name}(" in text_of(page):
        head = function_in(cells, name).split("\n")[0]
        code = f"{head}\n    return {expression}"
    assert words in hint_for(space, name, code)


@pytest.mark.parametrize("page", checker.LESSONS)
def test_every_hint_can_be_given(page, solutions, monkeypatch):
    """Beside each stands the value of a mistake, which is neither right nor that of another."""
    _, space = solutions(page)
    own, now, known = space["check"].own, [""], set()

    def instead(real):
        def compared(answer, truth, *more, **options):
            mistakes = [m for m in (*more, options.get("mistakes")) if isinstance(m, dict)]
            known.update(hint for m in mistakes for hint in m)
            answer = next((m[now[0]] for m in mistakes if now[0] in m), answer)
            return real(answer, truth, *more, **options)

        return compared

    modules = {import_module(t.judge.__module__) for t in exercises.tasks_of(page).values()}
    for module in modules:
        for name in {"same", "near"} & set(vars(module)):
            monkeypatch.setattr(module, name, instead(getattr(checker, name)))
    for name, task in exercises.tasks_of(page).items():
        if name not in space:
            continue
        now[0] = ""
        known.clear()
        with contextlib.suppress(exercises.NotYet):
            task.judge(space[name], own)
        for hint in list(known):
            now[0] = hint
            with pytest.raises(exercises.NotYet) as said:
                task.judge(space[name], own)
            assert str(said.value) == hint, name


FORWARD, BACKWARD = MOVE.format(at="high"), MOVE.format(at="low")


@pytest.mark.parametrize(
    ("start", "body", "words"),
    [
        (START, f"{FORWARD}; {WEIGH}", "mean weight is not Z"),
        (START, f"{WEIGH}; {BACKWARD}", "mean weight"),
        (START, WEIGH, "differs|scatter"),
        (START, f"{WEIGH}; {MOVE.format(at='1.0')}", "mean weight is not Z"),
        ("0.0", f"{WEIGH}; {FORWARD}", "log Z of the base is missing"),
        ("np.logaddexp(0, b0).sum()", f"{WEIGH}; {FORWARD}", "lacks log 2"),
        (START, f"{WEIGH}; {FORWARD}; {FORWARD}", "differs|scatter"),
        (START, f"{WEIGH}; v = move(m, b0, v, high, np.random.default_rng())", "generator"),
        (START, f"{WEIGH}; v = move(m, b0, v[::-1], high, rng)", "mean weight|differs|scatter"),
        (START, f"log_w -= weigh(m, b0, v, low, high); {FORWARD}", "mean weight"),
        (START, f"{WEIGH}; {FORWARD}", None),
    ],
)
def test_ais_with_steps_in_another_order(start, body, words, solutions):
    hint = hint_for(solutions("ais")[1], "ais", AIS.format(start=start, body=body))
    assert (hint is None) == (words is None)
    assert words is None or re.search(words, hint)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("np.exp(-b0))", "np.exp(0 * b0))", "must begin in the base"),
        ("np.exp(-b0))", "np.exp(-m.visible_bias))", "must begin in the base"),
        ("np.exp(-b0))", "np.exp(b0))", "must begin in the base"),
        ("return log_w\n", "return np.exp(log_w)\n", "return their logarithms"),
    ],
)
def test_ais_that_begins_elsewhere_or_returns_weights(right, wrong, words, solutions):
    code = AIS.format(start=START, body=f"{WEIGH}; {FORWARD}")
    assert code.count(right) == 1
    assert words in hint_for(solutions("ais")[1], "ais", code.replace(right, wrong))


def test_a_sum_over_visible_units_ends_before_two_hundred_of_them(solutions):
    code = """
from itertools import product
def log_z(W, b, a):
    assert len(b) < 200
    v = np.array(list(product((0, 1), repeat=len(b))))
    return np.logaddexp.reduce(v @ b + np.logaddexp(0, v @ W + a).sum(axis=1))"""
    assert "over those of the hidden units" in hint_for(solutions("start")[1], "log_z", code)


@pytest.mark.parametrize(
    ("lesson", "name", "answer", "words"),
    [
        ("start", "forty_units", 20, "twenty times"),
        ("start", "forty_units", 2**40, "divide by those of 20"),
        ("ais", "enclosed", (12.5, 12.5), "the same number"),
        ("ais", "enclosed", (13.0, 12.0), "lower end first"),
        ("ais", "stable", 0.5398 / 0.0962, "take its root"),
        ("ais", "stable", 0.5398 / (0.0962 / 20), "root of variance / 20"),
        ("ais", "two_bases", "(a)", "same number of steps"),
        ("rts", "equal_guesses", 0, ""),
    ],
)
def test_a_typical_number_or_letter_gets_its_hint(lesson, name, answer, words):
    assert words in exercises.begin(lesson, "ada").judge(name, answer)


@pytest.mark.parametrize(("lesson", "name"), ANOTHER_WAY, ids=str)
def test_right_answers_by_another_way_are_accepted(lesson, name, solutions):
    assert hint_for(solutions(lesson)[1], name, ANOTHER_WAY[lesson, name]) is None


# ------------------------------------------------------------------------- the checker itself


def test_what_is_no_name_task_or_lesson_is_refused():
    with pytest.raises(ValueError, match="your name"):
        exercises.begin("ais", "  ")
    with pytest.raises(ValueError, match="there is no lesson 'nothing'"):
        exercises.begin("nothing", "ada")
    check = exercises.begin("ais", "ada")
    with pytest.raises(ValueError, match="there is no task 'gap'"):
        check("gap", 1.0)
    with pytest.raises(ValueError, match="nothing is given as 'x'"):
        check.given("x")


def test_an_answer_is_told_why_and_a_mark_can_be_lost_again(capsys):
    check = exercises.begin("ais", "ada")
    check("jensen_gap", lambda variance: variance / 2)
    assert check.marks["jensen_gap"] == 2
    check("jensen_gap", lambda variance: variance / 0)
    assert check.marks["jensen_gap"] == 0
    check("two_bases", "B ")
    check.report()
    said = capsys.readouterr().out
    assert "raised ZeroDivisionError" in said
    assert f"two_bases: right (1 points). {check.tasks['two_bases'].judge.__doc__}\n" in said
    assert "ada, ais: 1 of" in said


def test_the_points_that_teachers_are_told_are_those_that_are_given():
    page = (REPOSITORY / "book" / "teachers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"(?m)^\| (\d|project) \| ([^|]*\d[^|]*) \|$", page))
    told = dict(re.findall(r"(\w+) (\d+)", re.sub(" or leaky_rbm", "", " ".join(rows.values()))))
    points = {n: [t.points for t in exercises.tasks_of(n).values()] for n in checker.LESSONS}
    assert f"line {sum(points['line'][:17])}" in rows["2"]
    assert f"line {sum(points['line'][17:])}" in rows["3"]
    for lesson in told.keys() - {"line", "and"}:
        assert int(told[lesson]) == sum(points[lesson]), lesson
    assert sum(points["tracking"]) == sum(points["leaky_rbm"])


def test_make_exercises_writes_both_kinds(tmp_path, monkeypatch, read_notebook):
    monkeypatch.setattr(tool, "pages", lambda: [PAGES["sams"]])
    tool.main(tmp_path)
    student, teacher = (
        read_notebook(tmp_path / who / "sams.ipynb")["cells"] for who in ("student", "teacher")
    )
    assert "**Solution.**" in str(teacher)
    assert "**Solution.**" not in str(student)
    outputs = [o for c in teacher for o in c.get("outputs", [])]
    assert any("of 17 points" in "".join(o["text"]) for o in outputs)
    assert not any(c.get("outputs") for c in student)
    for role in ("{term}", "{doc}", "{numref}", "{eq}", ":label:"):
        assert role not in str(student)


# ------------------------------------------------------------------------- what judges allow

# A student's models and numbers stay the same for ever: a sum of each, for the name "ada".
FOR_EVER = {
    ("start", "hills"): -79.2368291, ("start", "picture"): -0.0322260176,
    ("mcmc_basics", "distributions"): -0.172879814, ("mcmc_basics", "chain"): 259.39702,
    ("mcmc_basics", "spread"): 3.6, ("ais", "reverse_r"): 18.9837931,
    ("ais", "hills"): -91.2894007, ("varopt", "spread"): 31.5867571,
    ("varopt", "steps"): 0.0361757378, ("rts", "walk"): -757.542915,
    ("rts", "rounds"): 45.5121967, ("rts_continuous", "turns"): 6,
    ("rts_continuous", "bold"): 0.86, ("sams", "ten_groups"): 19.4448537,
    ("tracking", "update"): -4.56025669, ("tracking", "filter"): 0.307821161,
    ("leaky_rbm", "unit"): 0.85249525, ("leaky_rbm", "layers"): 2045.85391,
    ("proteins", "letters"): -1.34330469, ("proteins", "report"): 31.1945088,
    ("proteins", "bits"): 50.0540302, ("", "model"): -5.11096749, ("", "base"): 0.674291603,
}  # fmt: skip


def numbers_in(thing) -> np.ndarray:
    """All numbers of what is given, one after another."""
    if isinstance(thing, BernoulliRBM):
        thing = (thing.weights, thing.visible_bias, thing.hidden_bias)
    if isinstance(thing, dict):
        thing = tuple(thing.values())
    if isinstance(thing, tuple):
        return np.concatenate([numbers_in(part) for part in thing])
    return np.ravel(np.asarray(thing, dtype=float))


def test_what_a_name_is_given_stays_the_same():
    given = {}
    for lesson in checker.LESSONS:
        check = exercises.begin(lesson, " Ada ")
        for name in getattr(import_module(f"rbmbook.exercises.{lesson}"), "GIVEN", {}):
            given[lesson, name] = numbers_in(check.given(name))
    given |= {("", name): numbers_in(getattr(check, name)) for name in ("model", "base")}
    found = {key: float(x @ np.cos(np.arange(x.size))) for key, x in given.items()}
    assert found == pytest.approx(FOR_EVER, rel=1e-6, abs=1e-9)
    assert not np.allclose(exercises.begin("ais", "bo").model.weights, check.model.weights)


def test_numbers_at_the_edge_of_what_is_allowed_count_as_near():
    checker.near(1.5, 1.0, 0.5)
    with pytest.raises(exercises.NotYet, match="twice"):
        checker.near(2.5, 1.0, 0.5, {"twice": 2.0})
    with pytest.raises(exercises.NotYet, match=r"^2\.75 is not it$"):
        checker.near(2.75, 1.0, 0.5, {"twice": 2.0})


def test_an_answer_of_another_shape_can_be_a_known_mistake():
    with pytest.raises(exercises.NotYet, match="turned"):
        checker.same([1.0, 2.0], [[1.0], [2.0]], {"turned": [1.0, 2.0]})
    with pytest.raises(exercises.NotYet, match=r"shape of your answer is \(2,\)"):
        checker.same([1.0, 2.0], [1.0, 2.0, 3.0], {"turned": [2.0, 1.0]})


@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_a_mean_may_be_so_many_standard_errors_off(scale):
    values = scale * np.random.default_rng(0).normal(size=400)
    error = np.sqrt(np.cov(values) / 400)
    for side in (-1, 1):
        checker.mean_is(values, values.mean() + 4.99 * side * error, "off")
        with pytest.raises(exercises.NotYet, match="off"):
            checker.mean_is(values, values.mean() + 5.01 * side * error, "off")


def test_a_count_may_be_so_many_standard_errors_off():
    """Twelve coins: the variance is 3, to which 1 is added, so that 8 heads are one error off."""
    codes = np.repeat([0, 1], [8, 4])
    checker.distribution_is(codes, [0.5, 0.5], "off", most=1.0)
    with pytest.raises(exercises.NotYet, match="off"):
        checker.distribution_is(codes, [0.5, 0.5], "off", most=0.99)
    with pytest.raises(exercises.NotYet, match="does not exist"):
        checker.distribution_is([0, 2], [0.5, 0.5], "off")


def test_what_judges_ask_a_function():
    """Half of the singular values are cut; the gap is asked for at three variances."""
    asked = []

    def note(*given):
        asked.append(given)
        return given[0] if len(given) == 2 else given[0] / 2

    exercises.begin("leaky_rbm", "ada").judge("project", note)
    sizes = np.linalg.svd(asked[0][0], compute_uv=False)
    assert asked[0][1] == pytest.approx((sizes[1] + sizes[2]) / 2, rel=1e-12)
    asked.clear()
    assert exercises.begin("ais", "ada").judge("jensen_gap", note) is None
    (first,), *others = asked
    assert first > 0
    assert others == [(first + 1.7,), (0.0,)]


def test_half_the_spread_is_refused_even_where_it_is_half_the_variance():
    check = exercises.begin("ais", "student4")
    assert check.own.number("variance", 0.5, 6.0) == 1.0
    for wrong in (lambda variance: np.sqrt(variance) / 2, lambda variance: variance**2 / 2):
        assert check.judge("jensen_gap", wrong) is not None


def test_a_chain_that_stays_at_its_place_is_seen():
    def temper(m, b0, betas, guess, n_chains, n_sweeps, rng):
        k = rng.integers(0, len(betas), (n_sweeps, n_chains))
        k[:, 0] = 2
        return k, np.zeros(k.shape)

    hint = exercises.begin("line", "ada").judge("temper", temper)
    assert hint == "each chain must change its temperature"


@pytest.mark.parametrize(("spread", "said"), [(0.0, True), (1e-4, False)])
def test_weights_that_differ_a_little_are_not_called_equal(spread, said):
    check = exercises.begin("ais", "ada")

    def ais(m, b0, betas, n, rng):
        return check.own.log_z + spread * rng.normal(size=n)

    assert check.judge("ais", ais).startswith("all log-weights are equal") == said


def test_steps_below_the_cap_keep_their_proportions_to_more_than_a_half():
    """A fifth of the shortest step is given to the next: no step is too long, nor is the sum."""
    check = exercises.begin("varopt", "ada")

    def right(lengths, cap):
        return np.diff(schedules.decelerate(np.r_[0.0, np.cumsum(lengths)[:-1], 1.0], cap))

    def bent(lengths, cap):
        found = right(lengths, cap)
        one, two = np.argsort(found)[:2]
        moved = 0.2 * found[one]
        found[one] -= moved
        found[two] += moved
        return found

    assert check.judge("capped", right) is None
    assert "keep their proportions" in check.judge("capped", bent)


def test_a_generator_of_ones_own_and_a_number_for_a_function_are_told():
    check = exercises.begin("mcmc_basics", "ada")
    assert check.judge("step", 3.0) == "give a function, not float"

    def sample_base(m, b0, n, rng):
        rng = np.random.default_rng(7)  # the same numbers at each call
        return (rng.random((n, m.n_visible)) < 1 / (1 + np.exp(-b0))).astype(float)

    assert "generator that is given" in exercises.begin("line", "ada").judge(
        "sample_base", sample_base
    )
