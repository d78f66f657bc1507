"""Each hint of an exercise is given for the mistake that it names, and each can be given."""

import ast
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from helpers_hints import LINE
from helpers_lesson_hints import FUNCTIONS
from helpers_number_hints import NUMBERS

from rbmbook import exercises
from rbmbook.exercises.checker import LESSONS

pytestmark = pytest.mark.filterwarnings("ignore")

FOR_FUNCTIONS = {("line", task): rows for task, rows in LINE.items()} | FUNCTIONS
GIVEN = [
    *((*task, words, answer) for task, rows in FOR_FUNCTIONS.items()
      for words, answer in rows.items()),
    *((lesson, task, words, lambda mine, of=of, answer=answer: answer(*of(mine)))
      for (lesson, task, of), rows in NUMBERS.items() for words, answer in rows.items()),
]  # fmt: skip


@pytest.fixture(scope="module")
def checkers():
    return {lesson: exercises.begin(lesson, "ada") for lesson in LESSONS}


@pytest.mark.parametrize(("lesson", "task", "words", "answer"), GIVEN)
def test_a_mistake_gets_the_hint_that_names_it(lesson, task, words, answer, checkers):
    checker = checkers[lesson]
    if (lesson, task) not in FOR_FUNCTIONS:
        answer = answer(checker.own)
    with np.errstate(all="ignore"):
        hint = checker.judge(task, answer)
    assert hint is not None
    assert hint.startswith(words)


def hints_of_judges() -> dict[tuple, set[str]]:
    """The texts that stand beside a wrong value, by the file and the function of the judge."""
    found = defaultdict(set)
    for file in Path(exercises.__file__).parent.glob("*.py"):
        for function in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(function, ast.FunctionDef):
                dicts = (d for d in ast.walk(function) if isinstance(d, ast.Dict))
                keys = [getattr(key, "value", None) for d in dicts for key in d.keys]
                hints = {key for key in keys if isinstance(key, str) and " " in key}
                found[file.stem, function.name.strip("_").removesuffix("_between")] |= hints
    return {judge: hints for judge, hints in found.items() if hints}


def test_every_hint_has_a_mistake_that_gets_it():
    listed = defaultdict(set)
    for lesson, task, words, _ in GIVEN:
        judge = exercises.tasks_of(lesson)[task].judge
        listed[judge.__module__.rsplit(".", 1)[1], judge.__name__].add(words)
    for judge, hints in hints_of_judges().items():
        without = {h for h in hints if not any(h.startswith(words) for words in listed[judge])}
        assert not without, judge
        assert len(listed[judge]) >= len(hints), judge
