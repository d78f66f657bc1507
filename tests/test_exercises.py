"""Exercises: solutions pass their own checks, wrong answers are refused with a hint, right answers
by another way are accepted, and students' notebooks hold no solution."""

import ast
import contextlib
import io
import itertools
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from helpers_answers import AIS, ANOTHER_WAY, BY_HAND, HARMLESS, MOVE, START, TYPICAL, WEIGH
from helpers_book import NIGHTLY, REPOSITORY
from helpers_mutants import mutants

from rbmbook import exercises
from rbmbook.exercises.checker import LESSONS

sys.path.insert(0, str(REPOSITORY / "book" / "_tools"))
import exercises as tool

PAGES = tool.pages()
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
FEWEST, MOST = (10, 16) if NIGHTLY else (3, 4)  # wrong answers a coding task is tried with
pytestmark = pytest.mark.filterwarnings("ignore")


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
@pytest.mark.parametrize("name", [pytest.param("bo", marks=pytest.mark.nightly), "Chì Lí"])
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


@pytest.mark.parametrize(("lesson", "name", "expression", "words"), TYPICAL)
def test_a_typical_mistake_gets_its_hint(lesson, name, expression, words, solutions):
    page = next(p for p in PAGES if p.stem == lesson)
    cells, space = solutions(page)
    code = f"{name} = {expression}"
    if f"def {name}(" in page.read_text(encoding="utf-8"):
        head = function_in(cells, name).split("\n")[0]
        code = f"{head}\n    return {expression}"
    hint = hint_for(space, name, code)
    assert hint not in (None, "no Python")
    assert words is None or words in hint


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
    _, space = solutions(next(p for p in PAGES if p.stem == "ais"))
    code = AIS.format(start=START, body=f"{WEIGH}; {MOVE.format(at='high')}")
    assert code.count(right) == 1
    assert words in hint_for(space, "ais", code.replace(right, wrong))


@pytest.mark.parametrize(
    "body",
    [
        "    v = np.array(list(product((0, 1), repeat=len(b))))\n"
        "    return np.logaddexp.reduce(v @ b + np.logaddexp(0, v @ W + a).sum(axis=1))",
        "    found = -np.inf\n"
        "    for v in map(np.array, product((0, 1), repeat=len(b))):\n"
        "        found = np.logaddexp(found, v @ b + np.logaddexp(0, v @ W + a).sum())\n"
        "    return found",
    ],
    ids=["much memory", "much time"],
)
def test_a_sum_over_visible_units_ends_before_two_hundred_of_them(body, solutions):
    _, space = solutions(next(p for p in PAGES if p.stem == "start"))
    code = f"from itertools import product\ndef log_z(W, b, a):\n    assert len(b) < 200\n{body}"
    assert "over those of the hidden units" in hint_for(space, "log_z", code)


@pytest.mark.parametrize(
    ("lesson", "name", "answer", "words"),
    [
        ("start", "forty_units", 20, "twenty times"),
        ("start", "forty_units", 2**40, "divide by those of 20"),
        ("start", "flattered", 13.89, "the printed value is another"),
        ("ais", "enclosed", (12.5, 12.5), "the same number"),
        ("ais", "enclosed", (13.0, 12.0), "lower end first"),
        ("ais", "stable", 0.5398 / 0.0962, "take its root"),
        ("ais", "stable", 0.5398 / (0.0962 / 20), "root of variance / 20"),
        ("ais", "two_bases", "(a)", "same number of steps"),
    ],
)
def test_a_typical_number_or_letter_gets_its_hint(lesson, name, answer, words):
    assert words in exercises.begin(lesson, "ada").judge(name, answer)


def test_half_the_spread_is_refused_even_where_it_is_half_the_variance():
    check = exercises.begin("ais", "student4")
    assert check.own.number("variance", 0.5, 6.0) == 1.0
    for wrong in (lambda variance: np.sqrt(variance) / 2, lambda variance: variance**2 / 2):
        assert check.judge("jensen_gap", wrong) is not None


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
        assert check.judge("two_bases", "(b)") is None
        check.report()
    assert check.marks["jensen_gap"] == 0
    assert "raised ZeroDivisionError" in printed.getvalue()
    assert "two_bases: right" in printed.getvalue()
    assert "ada, ais: 1 of" in printed.getvalue()


def test_a_right_answer_is_told_why_it_is_right(capsys):
    check = exercises.begin("rts", "ada")
    check("equal_shares", "d")
    check("equal_guesses", 0)
    right, wrong = capsys.readouterr().out.splitlines()
    assert right.startswith("equal_shares: right (2 points). Chains that all miss a mode agree")
    assert wrong.startswith("equal_guesses: not yet: ")


WHY = tuple(name for name in LESSONS if name not in ("line", "project"))


@pytest.mark.parametrize("lesson", WHY)
def test_each_why_is_a_sentence(lesson):
    for task in exercises.tasks_of(lesson).values():
        why = task.judge.__doc__
        assert why.endswith(".")
        assert "\n" not in why


def test_an_optional_task_gives_no_points(capsys):
    check = exercises.begin("varopt", "ada")
    lengths, cap = check.given("steps")
    low, high = 1.0, 1 / min(lengths)
    for _ in range(200):
        s = (low + high) / 2
        low, high = (s, high) if np.minimum(s * lengths, cap).sum() < 1 else (low, s)
    check("capped", lambda lengths, cap: np.minimum(s * lengths, cap))
    check.report()
    told = capsys.readouterr().out
    assert "capped: right (optional). Only one scale" in told
    assert "ada, varopt: 0 of 12 points" in told


def test_the_points_that_teachers_are_told_are_those_that_are_given():
    page = (REPOSITORY / "book" / "teachers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"(?m)^\| (\d|project) \| ([^|]*\d[^|]*) \|$", page))
    assert list(rows) == ["1", "2", "3", "4", "project"]
    told = dict(re.findall(r"(\w+) (\d+)", re.sub(" or leaky_rbm", "", " ".join(rows.values()))))
    steps = [t.points for t in exercises.checker.tasks_of("line").values()]
    assert f"line {sum(steps[:17])}" in rows["2"]
    assert f"line {sum(steps[17:])}" in rows["3"]
    for lesson in told.keys() - {"line", "and"}:
        points = sum(t.points for t in exercises.checker.tasks_of(lesson).values())
        assert int(told[lesson]) == points, lesson
    both = [exercises.checker.tasks_of(lesson).values() for lesson in ("tracking", "leaky_rbm")]
    assert len({sum(t.points for t in tasks) for tasks in both}) == 1


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
