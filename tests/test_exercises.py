"""Exercises: solutions pass their own checks, wrong answers are refused with a hint, right answers
by another way are accepted, and students' notebooks hold no solution."""

import ast
import contextlib
import io
import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from helpers_book import REPOSITORY
from helpers_mutants import mutants

from rbmlib.book import exercises

sys.path.insert(0, str(REPOSITORY / "book" / "_tools"))
import exercises as tool

PAGES = tool.pages()
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
FEWEST, MOST = 10, 16  # wrong answers a coding task is tried with
pytestmark = pytest.mark.filterwarnings("ignore")

# Changes that leave an answer right: constants that cancel, guards, other right ways.
HARMLESS = {
    "log_z": ["np.array(list(itertools.product([0.0, 1.0], repeat=len(a)))) -> its argument"],
    "draw": ["np.minimum(k, q.shape[1] - 1) -> its argument", "q.shape[1] - 1 -> q.shape[1]",
             "q.shape[1] - 1: other operator"],
    "temper": ["b0 (column 23) -> n_chains", "b0 (column 23) -> n_sweeps",
               "betas (column 25) -> guess", "np.array(places) -> its argument",
               "np.array(slopes) -> its argument"],
    "corrected": ["mean -> sum"],
    "mbar": ["zeros -> ones", "2000 -> 2001", "new - guess -> new", "abs(new - guess) -> its "
             "argument", "new - guess: other operator", "np.zeros(u.shape[1]) -> its argument"],
    "gains": ["np.maximum(t - t_0 + t_0 ** alpha, 1) -> its argument"],
    "update": ["q (column 31) -> log_z", "q (column 32) -> log_z"],
    "no_repeat": ["sum -> mean"],
    "transition": ["without the line T = T - np.diag(np.diag(T))", "T - np.diag(np.diag(T)) -> T",
                   "T - np.diag(np.diag(T)): other operator"],
    "step": ["x + width * rng.normal(size=len(x)): other operator"],
    "equal_areas": [  # a coarser rule of integration on a fine grid, and constants that cancel
        "(height[1:] + height[:-1]) / 2 -> height[1:] + height[:-1]",
        "(height[1:] + height[:-1]) / 2: other operator", "height[1:] + height[:-1] -> height[1:]",
        "height[1:] + height[:-1] -> height[:-1]", "2 -> 3"],
    "capped": ["1 -> 2", "200 -> 201"],
    "follow": ["np.array(guess) -> its argument"],
    "sams": ["zeros -> ones", "b0 (column 23) -> n_chains"],
}  # fmt: skip


def solved(page, name="ada"):
    cells = tool.cells_of(page.read_text(encoding="utf-8"), teacher=True)
    return cells, tool.run(cells, name)


@pytest.fixture(scope="module")
def solutions():
    """Every page with its solutions, run once: cells and variables."""
    found = {}

    def of(page):
        if page not in found:
            found[page] = solved(page)
        return found[page]

    return of


@every_page
def test_every_solution_has_all_marks(page, solutions):
    _, space = solutions(page)
    check = space["check"]
    short = {n: check.marks[n] for n, t in check.tasks.items() if check.marks[n] < t.points}
    assert not short


@every_page
@pytest.mark.parametrize("name", ["bo", "Chì Lí"])
def test_solutions_hold_for_models_of_others(page, name):
    _, space = solved(page, name)
    check = space["check"]
    assert check.own.name == name
    assert not [n for n, t in check.tasks.items() if check.marks[n] < t.points]


@every_page
def test_a_student_sees_no_solution_and_has_no_marks(page):
    text = page.read_text(encoding="utf-8")
    cells = tool.cells_of(text, teacher=False)
    shown = "\n".join(cell.source for cell in cells)
    for part in tool.parts(text):
        if part.kind == "solution":
            words, code = tool.solved(part)
            assert not code or code not in shown
            assert not words or tool.plain(words) not in shown
    assert "solution" not in shown.casefold().replace("solutions", "")
    space = tool.run(cells, "ada")
    assert not any(space["check"].marks.values())


@every_page
def test_every_task_is_asked_once_and_kinds_are_complete(page):
    text = page.read_text(encoding="utf-8")
    tasks = exercises.tasks_of(page.stem)
    for name in tasks:
        assert text.count(f'check("{name}"') == 1, name
    kinds = [task.kind for task in tasks.values()]
    if page.stem not in ("line", "project"):
        assert len(kinds) >= 6
        assert kinds.count("coding") >= 2
        assert {"derivation", "coding", "experiment", "trap", "reading"} == set(kinds)
    asked = [p.title for p in tool.parts(text) if p.kind == "exercise"]
    assert len(asked) == len(tasks)


def coding_tasks():
    for page in PAGES:
        for name, task in exercises.tasks_of(page.stem).items():
            code = f"def {name}(" in page.read_text(encoding="utf-8")
            if task.kind in ("coding", "step") and code:
                yield pytest.param(page, name, id=f"{page.stem}-{name}")


def function_in(cells, name: str) -> str:
    for cell in cells:
        if cell.cell_type == "code" and f"def {name}(" in cell.source:
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    return ast.unparse(node)
    raise LookupError(name)


def hint_for(space, name: str, code: str) -> str | None:
    copy = dict(space)
    try:
        with np.errstate(all="ignore"):
            exec(code, copy)
            return space["check"].judge(name, copy[name])
    except SyntaxError:
        return "no Python"


def few(wrong: dict[str, str]) -> dict[str, str]:
    """At most `MOST` of them, spread over all."""
    every = max(1, len(wrong) // MOST)
    return dict(itertools.islice(wrong.items(), 0, every * MOST, every))


@pytest.mark.parametrize(("page", "name"), list(coding_tasks()))
def test_wrong_answers_are_refused(page, name, solutions):
    cells, space = solutions(page)
    wrong = few(mutants(function_in(cells, name)) | BY_HAND.get(name, {}))
    hints = {what: hint_for(space, name, code) for what, code in wrong.items()}
    accepted = [what for what, hint in hints.items() if hint is None]
    assert set(accepted) <= set(HARMLESS.get(name, []))
    assert len(hints) - len(accepted) >= FEWEST, f"only {len(hints)} wrong answers were planted"


# ------------------------------------------------------------ wrong answers written by hand

BY_HAND = {
    "sigmoid": {
        "overflows": "def sigmoid(x):\n    return 1 / (1 + np.exp(-x))",
        "tanh": "def sigmoid(x):\n    return np.tanh(x)",
        "step": "def sigmoid(x):\n    return (x > 0).astype(float)",
        "scaled": "def sigmoid(x):\n    return 0.5 * (1 + np.tanh(x))",
        "logarithm": "def sigmoid(x):\n    return -np.logaddexp(0, -x)",
    },
    "bracket": {
        "log-mean-exp": "def bracket(log_w, r):\n    return log_mean_exp(log_w), log_mean_exp(r)",
        "sign": "def bracket(log_w, r):\n    return np.mean(log_w), -np.mean(r)",
        "order": "def bracket(log_w, r):\n    return np.mean(r), np.mean(log_w)",
        "ends": "def bracket(log_w, r):\n    return np.min(log_w), np.max(r)",
        "median": "def bracket(log_w, r):\n    return np.median(log_w), np.median(r)",
        "one": "def bracket(log_w, r):\n    return np.mean(log_w)",
        "none": "def bracket(log_w, r):\n    return None",
    },
    "log_terms": {
        "sum": "def log_terms(delta, betas):\n    return delta[:, None] + betas",
        "turned": "def log_terms(delta, betas):\n    return np.outer(betas, delta)",
        "exp": "def log_terms(delta, betas):\n    return np.exp(np.outer(delta, betas))",
        "sign": "def log_terms(delta, betas):\n    return -np.outer(delta, betas)",
        "rest": "def log_terms(delta, betas):\n    return np.outer(delta, 1 - betas)",
        "mean": "def log_terms(delta, betas):\n    return delta.mean() * betas",
        "one": "def log_terms(delta, betas):\n    return delta * betas[0]",
        "last": "def log_terms(delta, betas):\n    return np.outer(delta, betas)[:, 1:]",
    },
    "counted": {
        "not a share": "def counted(k, n):\n    return (k[:, :, None] == np.arange(n)).sum(axis=0)",
        "all chains": "def counted(k, n):\n    return np.bincount(k.ravel(), minlength=n) / k.size",
        "by sweep": "def counted(k, n):\n    return (k[:, :, None] == np.arange(n)).mean(axis=1)",
        "shifted": "def counted(k, n):\n    return ((k + 1)[..., None] == np.arange(n)).mean(axis=0)",
        "below": "def counted(k, n):\n    return (k[:, :, None] <= np.arange(n)).mean(axis=0)",
        "places": "def counted(k, n):\n    return k.mean(axis=0)",
    },
}  # fmt: skip

TYPICAL = [  # task, a typical wrong answer, what its hint must say
    ("line", "sigmoid", "1 / (1 + np.exp(-x))", "overflows"),
    ("line", "log_mean_exp", "np.log(np.sum(np.exp(x - x.max()))) + x.max()", "number of values"),
    ("line", "log_mean_exp", "x.mean()", "bound and no estimate"),
    ("start", "score", "v @ b + (v @ W + a).sum(axis=1)", "summed over"),
    ("start", "score", "np.logaddexp(0, v @ W + a).sum(axis=1)", "visible biases are missing"),
    ("start", "log_z", "np.exp(12.5)", None),
    ("ais", "path_score", "v @ ((1 - beta) * b0 + beta * m.visible_bias) + beta * np.logaddexp("
     "0, v @ m.weights + m.hidden_bias).sum(axis=1)", "the dial stands inside"),
    ("ais", "jensen_gap", "variance", "half the variance"),
    ("ais", "from_above", "np.logaddexp.reduce(r) - np.log(len(r))", "published mistake"),
    ("line", "log_z_base", "np.logaddexp(0, b0).sum()", "adds log 2"),
    ("line", "hidden_mean", "sigmoid(beta * (v @ m.weights) + m.hidden_bias)", "biases, too"),
    ("line", "visible_mean", "sigmoid(beta * (h @ m.weights.T + m.visible_bias))", "base is miss"),
    ("line", "sweep", "(v, hidden_mean(m, v, beta))", "zeros and ones"),
    ("line", "increment", "path_score(m, b0, v, low) - path_score(m, b0, v, high)", "the sign"),
    ("line", "std_error", "log_w.std(ddof=1) / np.sqrt(len(log_w))", "log of the mean weight"),
    ("line", "bracket", "(log_mean_exp(log_w), -log_mean_exp(-r))", "means of logarithms"),
    ("line", "z_score", "(value - other) / (error + other_error)", "variances add up"),
    ("line", "slope", "v @ m.visible_bias + h @ m.hidden_bias + ((v @ m.weights) * h).sum(axis=1)",
     "biases of the base away"),
    ("rts", "law_of_beta", "np.exp(np.outer(delta, betas) - guess)", "add up to 1"),
    ("line", "draw", "q.argmax(axis=1)", "must be drawn"),
    ("line", "averaged", "law_of_beta(delta.mean(axis=0), betas, guess)", "not the slopes"),
    ("rts", "corrected", "guess + np.log(shares.mean(axis=0))", "must stay as it is"),
    ("rts", "corrected", "guess - np.log(shares.mean(axis=0)) + np.log(shares.mean(axis=0)[0])",
     "too small"),
    ("line", "rts_error", "(shares[:, -1] / shares[:, -1].mean()).std(ddof=1) / np.sqrt(50)",
     "end at β = 0"),
    ("sams", "gains", "np.where(np.arange(1, n + 1) <= t_0, np.arange(1, n + 1) ** -alpha, 1 / "
     "np.maximum(np.arange(1, n + 1) - t_0 + t_0**alpha, 1))", "cap is missing"),
    ("sams", "update", "log_z + min(gain * q.shape[1], 1) * q", "first guess must stay 0"),
    ("line", "groups", "(values.mean(), values.std(ddof=1) / np.sqrt(values.size))",
     "share their guesses"),
]  # fmt: skip


@pytest.mark.parametrize(("lesson", "name", "expression", "words"), TYPICAL)
def test_a_typical_mistake_gets_its_hint(lesson, name, expression, words, solutions):
    page = next(p for p in PAGES if p.stem == lesson)
    cells, space = solutions(page)
    head = function_in(cells, name).split("\n")[0] if f"def {name}(" in page.read_text() else ""
    hint = hint_for(space, name, f"{head}\n    return {expression}")
    assert hint is not None
    assert words is None or words in hint


AIS = """
def ais(m, b0, betas, n_chains, rng):
    v = (rng.random((n_chains, m.n_visible)) < 1 / (1 + np.exp(-b0))).astype(float)
    log_w = np.full(n_chains, {start})
    for low, high in zip(betas, betas[1:]):
        {body}
    return log_w
def move(m, b0, v, beta, rng):
    on = 1 / (1 + np.exp(-beta * (v @ m.weights + m.hidden_bias)))
    h = rng.random(on.shape) < on
    on = 1 / (1 + np.exp(-((1 - beta) * b0 + beta * (h @ m.weights.T + m.visible_bias))))
    return (rng.random(on.shape) < on).astype(float)
def weigh(m, b0, v, low, high):
    return path_score(m, b0, v, high) - path_score(m, b0, v, low)
"""
START = "np.logaddexp(0, b0).sum() + m.n_hidden * np.log(2)"
WEIGH, MOVE = "log_w += weigh(m, b0, v, low, high)", "v = move(m, b0, v, {at}, rng)"


@pytest.mark.parametrize(
    ("start", "body", "words"),
    [
        (START, f"{MOVE.format(at='high')}; {WEIGH}", "mean weight is not Z"),
        (START, f"{WEIGH}; {MOVE.format(at='low')}", "mean weight"),
        (START, WEIGH, "differs|scatter"),
        (START, f"{WEIGH}; {MOVE.format(at='1.0')}", "mean weight is not Z"),
        ("0.0", f"{WEIGH}; {MOVE.format(at='high')}", "log Z of the base is missing"),
        ("np.logaddexp(0, b0).sum()", f"{WEIGH}; {MOVE.format(at='high')}", "lacks log 2"),
        (START, f"{WEIGH}; " + "; ".join([MOVE.format(at="high")] * 2), "differs|scatter"),
        (START, f"{WEIGH}; v = move(m, b0, v, high, np.random.default_rng())", "generator"),
        (START, f"{WEIGH}; v = move(m, b0, v[::-1], high, rng)", "mean weight|differs|scatter"),
        (START, f"log_w -= weigh(m, b0, v, low, high); {MOVE.format(at='high')}", "mean weight"),
        (START, f"{WEIGH}; {MOVE.format(at='high')}", None),
    ],
)
def test_ais_with_steps_in_another_order(start, body, words, solutions):
    _, space = solutions(next(p for p in PAGES if p.stem == "ais"))
    hint = hint_for(space, "ais", AIS.format(start=start, body=body))
    assert (hint is None) == (words is None)
    assert words is None or any(word in hint for word in words.split("|")), hint


ANOTHER_WAY = {
    ("line", "sigmoid"): "from scipy.special import expit as sigmoid",
    ("line", "log_mean_exp"): """
from scipy.special import logsumexp
def log_mean_exp(x):
    return logsumexp(x, b=1 / len(x))""",
    ("start", "score"): """
def score(v, W, b, a):
    return np.array([r @ b + sum(np.logaddexp(0.0, x) for x in r @ W + a) for r in v])""",
    ("start", "log_z"): """
from itertools import product
from scipy.special import logsumexp
def log_z(W, b, a):
    return logsumexp([np.dot(h, a) + np.logaddexp(0, W @ h + b).sum()
                      for h in map(np.array, product((0, 1), repeat=len(a)))])""",
    ("ais", "path_score"): """
import rbmlib as rl
def path_score(m, b0, v, beta):
    return rl.GeometricPath(m, base=b0).at(beta).log_density(v)""",
    ("ais", "ais"): """
import rbmlib as rl
def ais(m, b0, betas, n_chains, rng):
    return rl.ais(rl.GeometricPath(m, base=b0), betas, n_chains, rng=rng).log_weights""",
    ("line", "sample_base"): """
def sample_base(m, b0, n, rng):
    return rng.binomial(1, sigmoid(b0), size=(n, m.n_visible))""",
    ("line", "sweep"): """
def sweep(m, b0, v, beta, rng):
    h = rng.binomial(1, hidden_mean(m, v, beta))
    return rng.binomial(1, visible_mean(m, b0, h, beta)), h""",
    ("line", "draw"): """
def draw(q, rng):
    return np.array([rng.choice(len(row), p=row) for row in q])""",
    ("line", "std_error"): """
def std_error(log_w):
    return np.sqrt(1 / ess(log_w) - 1 / len(log_w))""",
    ("line", "temper"): """
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
    ("line", "mbar"): """
import rbmlib as rl
from scipy.optimize import minimize
def mbar(u, counts):
    def f(x):
        z = np.concatenate([[0], x])
        a = u - z + np.log(counts)
        top = np.logaddexp.reduce(a, axis=1)
        w = np.exp(a - top[:, None]).sum(axis=0)
        return top.sum() + (counts * z).sum(), (counts - w)[1:]
    x = np.zeros(u.shape[1] - 1)
    for _ in range(3):
        x = minimize(f, x, jac=True, method="BFGS", options={"gtol": 1e-9}).x
    z = np.concatenate([[0], x])
    for _ in range(500):
        z = mbar_step(u, counts, z)
    return z""",
    ("rts", "law_of_beta"): """
from scipy.special import softmax
def law_of_beta(delta, betas, guess):
    return softmax(np.multiply.outer(delta, betas) - guess, axis=1)""",
    ("rts", "corrected"): """
def corrected(guess, shares):
    total = shares.sum(axis=0)
    return guess - guess[0] + np.log(total) - np.log(total[0]) + guess[0]""",
    ("sams", "gains"): """
def gains(n, t_0, n_betas, alpha):
    return [min(1 / n_betas, t**-alpha if t <= t_0 else 1 / (t - t_0 + t_0**alpha))
            for t in range(1, n + 1)]""",
    ("sams", "update"): """
def update(log_z, q, gain):
    new = log_z.copy()
    for row, more in zip(new, q):
        row += min(gain * len(more), 1) * more
        row -= row[0]
    return new""",
    ("line", "round_trips"): """
def round_trips(k, top):
    def one(walk):
        ends = [x for x in walk if x in (0, top)]
        runs = [x for i, x in enumerate(ends) if i == 0 or ends[i - 1] != x]
        if runs and runs[0] == top:
            runs = runs[1:]
        return max(0, (len(runs) - 1) // 2)
    return np.array([one(column) for column in k.T])""",
}


@pytest.mark.parametrize(("lesson", "name"), ANOTHER_WAY, ids=str)
def test_right_answers_by_another_way_are_accepted(lesson, name, solutions):
    _, space = solutions(next(p for p in PAGES if p.stem == lesson))
    assert hint_for(space, name, ANOTHER_WAY[lesson, name]) is None


# ------------------------------------------------------------------------- the checker itself


def test_a_name_has_the_same_model_for_ever_and_others_have_another():
    one, again, other = (exercises.begin("ais", name) for name in ("Ada", " ada ", "bo"))
    assert np.array_equal(one.model.weights, again.model.weights)
    assert not np.allclose(one.model.weights, other.model.weights)


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


def test_an_answer_that_raises_is_told_and_a_mark_can_be_lost_again():
    check = exercises.begin("ais", "ada")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        check("jensen_gap", lambda variance: variance / 2)
        assert check.marks["jensen_gap"] == 2
        check("jensen_gap", lambda variance: variance / 0)
        check("two_bases", "B ")
        check.report()
    assert check.marks["jensen_gap"] == 0
    assert "raised ZeroDivisionError" in printed.getvalue()
    assert "two_bases: right" in printed.getvalue()
    assert "ada, ais: 1 of" in printed.getvalue()


def test_make_exercises_writes_both_kinds(tmp_path, monkeypatch, read_notebook):
    page = next(p for p in PAGES if p.stem == "sams")
    monkeypatch.setattr(tool, "pages", lambda: [page])
    tool.main(tmp_path)
    kinds = SimpleNamespace(
        **{who: read_notebook(tmp_path / who / "sams.ipynb") for who in ("student", "teacher")}
    )
    texts = {who: "".join(map(str, nb["cells"])) for who, nb in vars(kinds).items()}
    assert "**Solution.**" in texts["teacher"]
    assert "**Solution.**" not in texts["student"]
    outputs = [o for c in kinds.teacher["cells"] for o in c.get("outputs", [])]
    assert any("of 17 points" in "".join(o["text"]) for o in outputs)
    assert not any(c.get("outputs") for c in kinds.student["cells"])
    for role in ("{term}", "{doc}", "{numref}", "{eq}", ":label:"):
        assert role not in texts["student"]
