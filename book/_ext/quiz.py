"""Questions with letters on the pages of exercises: a button a letter, and why, without a network.

The right letter, and what is said of the others, are those of the judge that marks the notebook.
"""

import html
import re

from rbmbook.exercises import NotYet, tasks_of
from rbmbook.exercises.checker import Task

FOLDER, ASKS = "book/exercises/", "Answer with the letter."
EXERCISE = re.compile(r"```\{exercise\}[^\n]*\n:label: task-([\w-]+)\n(.*?)\n```\n", re.S)


def said(task: Task, letter: str) -> tuple[bool, str]:
    """Whether a letter is right, and the sentence that its judge says of it."""
    try:
        task.judge(letter, None)
    except NotYet as hint:
        return False, str(hint)
    return True, task.why


def buttons(lesson: str, name: str, text: str) -> str:
    task, made = tasks_of(lesson)[name], ""
    for letter in re.findall(r"\(([a-z])\) ", text):
        right, why = said(task, letter)
        made += (
            f'<button type="button" class="pill" data-right="{right:d}" '
            f'data-why="{html.escape(why)}">{letter}</button>'
        )
    return f'<div class="quiz" role="group" aria-label="Your answer" hidden>{made}</div>'


def with_buttons(lesson: str, source: str) -> str:
    """A page of exercises; its notebooks are made from the file, which stays as it is."""

    def fill(found) -> str:
        label, text = found.groups()
        if ASKS not in text:
            return found[0]
        name = label.replace("-", "_").removeprefix(f"{lesson}_")
        shown = re.sub(rf" (\([a-z]\) |{re.escape(ASKS)})", r"\\\n\1", text)  # a line each
        raw = f"\n\n:::{{raw}} html\n{buttons(lesson, name, text)}\n:::\n```\n"
        return found[0].replace(text, shown).removesuffix("\n```\n") + raw

    return EXERCISE.sub(fill, source)


def read(app, docname, source) -> None:
    if docname.startswith(FOLDER) and ASKS in source[0]:
        source[0] = with_buttons(docname.removeprefix(FOLDER), source[0])


def add_script(app, pagename, templatename, context, doctree) -> None:
    if 'class="quiz"' in context.get("body", ""):
        app.add_js_file("quiz.js", loading_method="defer")
