"""Exercises: solutions pass their own checks, each wrong answer gets its hint, right answers by
another way are accepted, and students' notebooks hold no solution."""

import ast
import re
from importlib import import_module

import exercises as tool
import numpy as np
import pytest
from helpers_book import NIGHTLY, REPOSITORY, read

from rbmbook import exercises
from rbmbook.exercises import checker
from rbmlib.models.named import BernoulliRBM

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
    space = space if name == "ada" else tool.run(cells, name)
    check = space["check"]
    assert check.own.name == name
    assert not [n for n, t in check.tasks.items() if check.marks[n] < t.points]
    assert not [n for n, t in check.tasks.items() if not t.points and check.judge(n, space[n])]


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
    assert "the last try counts" in str([cell.get("outputs") for cell in cells])


def test_a_solution_without_code_is_the_teachers_too():
    page = "```{exercise} A\nWhy?\n```\n\n```{solution} a\nBecause.\n```\n"
    for teacher in (False, True):
        shown = "\n".join(cell.source for cell in tool.cells_of(page, teacher))
        assert ("Why?" in shown, "Because." in shown) == (True, teacher)


@every_page
def test_every_task_is_asked_once(page):
    text, tasks = text_of(page), exercises.tasks_of(page)
    assert [text.count(f'check("{name}"') for name in tasks] == [1] * len(tasks)
    assert len([p for p in tool.parts(text) if p.kind == "exercise"]) == len(tasks)


# ------------------------------------------------------------------------- wrong and right answers


def wrong_answers(task, own) -> dict:
    """By the hint that each of them gets."""
    held_to = task.held_to(own) if task.held_to else []
    if isinstance(held_to, tuple):  # a number
        return held_to[1]
    table, found = [checker.Case(*case) for case in held_to if not callable(case)], {}
    for i, case in enumerate(table):
        for hint, value in case.hints.items():
            results = [*(c.right for c in table[:i]), value]
            by_case = lambda *given, results=results: results.pop(0)  # noqa: E731
            found[hint] = value if callable(value) else by_case
    return found


@pytest.mark.parametrize("page", checker.LESSONS)
@pytest.mark.parametrize("name", ["ada", pytest.param("bo", marks=pytest.mark.nightly)])
def test_every_wrong_answer_gets_the_hint_beside_it(page, name):
    check = exercises.begin(page, name)
    for task_name, task in check.tasks.items():
        for hint, wrong in wrong_answers(task, check.own).items():
            assert check.judge(task_name, wrong) == hint, task_name


SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.Gt, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.BitAnd: ast.BitOr, ast.MatMult: ast.Mult,
}  # fmt: skip
CALLS = {
    "exp": "log", "log": "exp", "mean": "sum", "sum": "mean", "logaddexp": "add", "min": "max",
    "max": "min", "maximum": "minimum", "minimum": "maximum", "cumsum": "cumprod", "std": "var",
    "zeros": "ones", "sqrt": "square", "hypot": "add", "tanh": "sin", "cos": "sin",
}  # fmt: skip


def changes(node):
    """What a careless hand may write in the place of a piece of code."""
    match node:
        case ast.BinOp(left, op, right):
            yield from (left, right)
            if type(op) in SWAPS:
                yield ast.BinOp(left, SWAPS[type(op)](), right)
        case ast.UnaryOp(ast.USub(), operand):
            yield operand
        case ast.Compare(left, [op], right) if type(op) in SWAPS:
            yield ast.Compare(left, [SWAPS[type(op)]()], right)
        case ast.Constant(int() | float() as value) if not isinstance(value, bool):
            yield ast.Constant(value + 1)
        case ast.Attribute(value, name) if name in CALLS:
            yield ast.Attribute(value, CALLS[name], ast.Load())
        case ast.Assign() | ast.AugAssign():
            yield ast.Pass()


def mutants(function: str) -> dict[str, str]:
    """Code of a function by the one change that was made in it."""
    tree, found = ast.parse(function), {}
    for parent in list(ast.walk(tree)):
        for name, value in ast.iter_fields(parent):
            many = isinstance(value, list)
            for i, node in enumerate(value if many else [value]):
                for other in changes(node):
                    setattr(parent, name, [*value[:i], other, *value[i + 1 :]] if many else other)
                    what = f"{ast.unparse(node)} -> {ast.unparse(other)}"
                    found.setdefault(what, ast.unparse(ast.fix_missing_locations(tree)))
                setattr(parent, name, value)
    return found


# Changes that leave an answer right: constants that cancel, guards, other right ways.
HARMLESS = {
    "draw": ["q.shape[1] - 1 -> q.shape[1]", "q.shape[1] - 1 -> q.shape[1] + 1"],
    "corrected": ["shares.mean -> shares.sum"],
    "mbar": ["np.zeros -> np.ones", "2000 -> 2001", "new - guess -> new",
             "new - guess -> new + guess"],
    "sams": ["np.zeros -> np.ones"],
    "transition": ["T = T - np.diag(np.diag(T)) -> pass", "T - np.diag(np.diag(T)) -> T",
                   "T - np.diag(np.diag(T)) -> T + np.diag(np.diag(T))"],
    "step": ["x + width * rng.normal(size=len(x)) -> x - width * rng.normal(size=len(x))"],
    "of_one_site": ["log_p - log_p.max() -> log_p", "log_p - log_p.max() -> log_p + log_p.max()",
                    "log_p.max -> log_p.min"],
    "equal_areas": [  # a coarser rule of integration on a fine grid, and constants that cancel
        "(height[1:] + height[:-1]) / 2 -> height[1:] + height[:-1]",
        "(height[1:] + height[:-1]) / 2 -> (height[1:] + height[:-1]) * 2",
        "height[1:] + height[:-1] -> height[1:]", "height[1:] + height[:-1] -> height[:-1]",
        "2 -> 3"],
    "capped": ["1 -> 2", "200 -> 201"],
}  # fmt: skip


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
def test_careless_answers_are_refused(page, name, solutions):
    cells, space = solutions(page)
    wrong = mutants(function_in(cells, name))
    tried = list(wrong)[:: 1 if NIGHTLY else max(1, len(wrong) // 4)]
    accepted = {what for what in tried if hint_for(space, name, wrong[what]) is None}
    assert accepted <= set(HARMLESS.get(name, []))


OTHER = {
    ("start", "log_z", "over those of the hidden units"): """
from itertools import product
def log_z(W, b, a):
    assert len(b) < 200
    v = np.array(list(product((0, 1), repeat=len(b))))
    return np.logaddexp.reduce(v @ b + np.logaddexp(0, v @ W + a).sum(axis=1))""",
    ("line", "sigmoid", "overflow"): "sigmoid = lambda x: 1 / (1 + np.exp(-x))",
    ("line", "sweep", "zeros and ones"):
        "sweep = lambda m, b0, v, beta, rng: (v, hidden_mean(m, v, beta))",
    ("line", "sample_base", "generator that is given"): """
def sample_base(m, b0, n, rng):
    rng = np.random.default_rng(7)  # the same numbers at each call
    return (rng.random((n, m.n_visible)) < sigmoid(b0)).astype(float)""",
    ("line", "ais", "all chains are equal"): """
def ais(m, b0, betas, n_chains, rng):
    return np.full(n_chains, rng.random())""",
    ("line", "update", "changes an array"): """
def update(log_z, q, gain):
    log_z += min(gain * q.shape[1], 1) * q
    return log_z - log_z[:, :1]""",
    ("rts", "beta_probabilities", "not finite"): """
def beta_probabilities(delta, betas, guess):
    q = np.exp(np.outer(delta, betas) - guess)
    return q / q.sum(axis=1)[:, None]""",
    ("mcmc_basics", "step", "give a function, not float"): "step = 3.0",
    ("mcmc_basics", "step", "work with logarithms"): """
def step(log_p, x, width, rng):
    y = x + width * rng.normal(size=x.size)
    return np.where(rng.random(x.size) < np.exp(log_p(y)) / np.exp(log_p(x)), y, x)""",
    ("line", "ais", "do the chains begin in the base"): """
def ais(m, b0, betas, n_chains, rng):
    v, log_w = sample_base(m, 0 * b0, n_chains, rng), np.full(n_chains, log_z_base(m, b0))
    for low, high in itertools.pairwise(betas):
        log_w += increment(m, b0, v, low, high)
        v, _ = sweep(m, b0, v, high, rng)
    return log_w""",
    ("line", "library", "missing: RTS, MBAR, SAMS"): 'library = {"AIS": (1.0, 0.1)}',
    ("line", "library", "give a dict"): "library = [1.0]",
    ("ais", "enclosed", "give the lower end first"): "enclosed = (13.0, 12.0)",
    ("sams", "from_nothing", "then its standard error"): "from_nothing = (10.0, -0.1)",
    ("sams", "from_nothing", "take more sweeps or chains"): "from_nothing = (10.0, 0.6)",
    ("ais", "ais", None): """
import rbmlib as rl
def ais(m, b0, betas, n_chains, rng):
    return rl.ais(rl.GeometricPath(m, base=b0), betas, n_chains, rng=rng).log_weights""",
    ("line", "sample_base", None): """
def sample_base(m, b0, n, rng):
    return rng.binomial(1, sigmoid(b0), size=(n, m.n_visible))""",
    ("line", "sweep", None): """
def sweep(m, b0, v, beta, rng):
    h = rng.binomial(1, hidden_mean(m, v, beta))
    return rng.binomial(1, visible_mean(m, b0, h, beta)), h""",
    ("line", "draw", None): """
def draw(q, rng):
    return np.array([rng.choice(len(row), p=row) for row in q])""",
    ("line", "temper", None): """
def temper(m, b0, betas, guess, n_chains, n_sweeps, rng):
    v, k = np.ones((n_chains, m.n_visible)), np.full(n_chains, len(betas) - 1)
    out = np.empty((2, n_sweeps, n_chains))
    for t in range(n_sweeps):
        v, h = sweep(m, b0, v, betas[k].reshape(-1, 1), rng)
        d = slope(m, b0, v, h)
        noise = rng.gumbel(size=(n_chains, len(betas)))  # the largest of these is a draw
        k = (d[:, None] * betas - guess + noise).argmax(axis=1)
        out[:, t] = k, d
    return out[0].astype(int), out[1]""",
    ("line", "mbar", None): """
from scipy.optimize import root
def mbar(u, counts):
    def off(z):
        a = u - np.append(0, z)
        return z - mbar_step(u, counts, np.append(0, z))[1:]
    return np.append(0, root(off, np.zeros(u.shape[1] - 1), tol=1e-12).x)""",
}  # fmt: skip


@pytest.mark.parametrize(("lesson", "name", "words"), OTHER)
def test_other_answers_wrong_and_right(lesson, name, words, solutions):
    hint = hint_for(solutions(lesson)[1], name, OTHER[lesson, name, words])
    assert hint is None if words is None else words in hint


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
    assert f"two_bases: right (1 point). {check.tasks['two_bases'].why}\n" in said
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


def test_make_exercises_writes_both_kinds(tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "pages", lambda: [PAGES["sams"]])
    tool.main(tmp_path)
    student, teacher = (
        read(tmp_path / who / "sams.ipynb")["cells"] for who in ("student", "teacher")
    )
    assert "**Solution.**" in str(teacher)
    assert "**Solution.**" not in str(student)
    outputs = [o for c in teacher for o in c.get("outputs", [])]
    assert any("of 17 points" in "".join(o["text"]) for o in outputs)
    assert not any(c.get("outputs") for c in student)
    for role in ("{term}", "{doc}", "{numref}", "{eq}", ":label:"):
        assert role not in str(student)


# A student's models and numbers stay the same forever: a sum of each, for the name "ada".
FOR_EVER = {
    ("start", "hills"): -79.2368291, ("mcmc_basics", "distributions"): -0.172879814,
    ("mcmc_basics", "chain"): 259.39702, ("mcmc_basics", "spread"): 3.6,
    ("ais", "reverse_r"): 18.9837931, ("ais", "hills"): -91.2894007,
    ("varopt", "spread"): 31.5867571, ("varopt", "steps"): 0.0361757378,
    ("rts", "walk"): -757.542915, ("rts", "rounds"): 45.5121967, ("rts_continuous", "turns"): 6,
    ("rts_continuous", "bold"): 0.86, ("sams", "ten_groups"): 19.4448537,
    ("tracking", "update"): -4.56025669, ("tracking", "filter"): 0.307821161,
    ("leaky_rbm", "unit"): 0.85249525, ("leaky_rbm", "layers"): 2045.85391,
    ("proteins", "letters"): -1.34330469, ("proteins", "bits"): 50.0540302,
    ("", "model"): -5.11096749, ("", "base"): 0.674291603,
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


def test_half_the_spread_is_refused_even_where_it_is_half_the_variance():
    check = exercises.begin("ais", "student4")
    assert check.own.number("variance", 0.5, 6.0) == 1.0
    for wrong in (lambda variance: np.sqrt(variance) / 2, lambda variance: variance**2 / 2):
        assert check.judge("jensen_gap", wrong) is not None


def hint_of(answer, truth, mistakes=None, **options) -> str | None:
    try:
        checker.same(answer, truth, mistakes or {}, **options)
    except exercises.NotYet as hint:
        return str(hint)
    return None


def test_known_and_common_mistakes_are_named():
    assert hint_of(1.5, 1.0, rtol=0, atol=0.5) is None
    edge = {"twice": 2.0}
    assert hint_of(2.5, 1.0, edge, rtol=0, atol=0.5, tell=False) == "twice"
    assert hint_of(7.75, 1.0, edge, rtol=0, atol=0.5, tell=False) == "7.75 is not right"
    assert hint_of([1.0, 2.0], [[1.0], [2.0]], {"turned": [1.0, 2.0]}) == "turned"
    assert "shape of your answer is (2,)" in hint_of([1.0, 2.0], [1.0, 2.0, 3.0])
    assert hint_of([4.0, 2.5], [1.0, 2.5]) == "your answer is 4 where 1 is right"
    right = np.random.default_rng(0).uniform(2, 3, (3, 2))
    for hint, change in checker.COMMON.items():
        assert hint_of(change(right), right) == hint


@pytest.mark.parametrize(("off", "scale"), [(0.0, 1.0), (0.1, 1.0), (0.0, 1.1)])
def test_draws_are_held_to_five_standard_errors(off, scale):
    """10,000 values of a wrong mean or variance are refused, at each of ten names."""

    @checker.function("step", 1)
    def normal(own):
        yield (), lambda rng: rng.normal(size=10_000), {}, "another mean"

    for name in range(10):
        own = exercises.checker.Own(str(name))
        draw = lambda rng: scale * rng.normal(size=10_000) + off  # noqa: E731
        if (off, scale) != (0, 1):
            with pytest.raises(exercises.NotYet, match="another mean"):
                normal.judge(draw, own)
        else:
            normal.judge(draw, own)
