"""Which estimator: questions and ends of `chooser.yml`, a table of the page `which`.

Without a script the questions are one table: have, use, why, with the code. `chooser.js` asks
them one at a time; it takes every text from the table.
"""

import html
import json
import re
from functools import cache
from pathlib import Path

import yaml
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from rbmbook.claims import by_name

BOOK = Path(__file__).parent.parent
LIST = BOOK / "chooser.yml"
MARK = "<!-- the chooser -->"


@cache
def chooser() -> dict:
    return yaml.safe_load(LIST.read_text(encoding="utf-8"))


def page() -> str:
    """HTML: a body of the table for each question, in the order of the list."""
    numbers = {name: number for number, name in enumerate(chooser()["questions"], start=1)}
    bodies = "\n".join(_question(name, numbers) for name in numbers)
    return (
        f'```{{raw}} html\n<div class="chooser" data-first="{chooser()["first"]}">\n'
        "<table>\n<thead><tr><th>You have</th><th>Use</th><th>Why</th></tr></thead>\n"
        f"{bodies}\n</table>\n"
        '<button type="button" class="pill ch-all" aria-pressed="false" hidden>'
        "All answers at once</button>\n</div>\n"
        '<script src="../_static/chooser.js" defer></script>\n```'
    )


def _question(name: str, numbers: dict[str, int]) -> str:
    question = chooser()["questions"][name]
    rows = "\n".join(_answer(answer, numbers) for answer in question["answers"])
    return (
        f'<tbody id="choose-{name}"><tr class="ch-asks"><th colspan="3" scope="rowgroup">'
        f"<span>{numbers[name]}.</span> {_inline(question['asks'])}</th></tr>\n{rows}</tbody>"
    )


def _answer(answer: dict, numbers: dict[str, int]) -> str:
    """A row, and one below it with the code."""
    to, says, end = answer["to"], _inline(answer["says"]), chooser()["ends"].get(answer["to"])
    code = (end or answer).get("code")
    head, below = f'<th scope="row">{says}</th>', ""
    if code:
        head = head.replace(">", ' rowspan="2">', 1)
        below = f'\n<tr><td colspan="2"><div class="ch-code">{_code(code)}</div></td></tr>'
    if end is None:
        on = f'<a href="#choose-{to}">Question {numbers[to]}</a>'
        return f'<tr data-to="{to}">{head}<td colspan="2">{on}</td></tr>{below}'
    lesson, place = by_name(BOOK)[end["lesson"]], f"#{end['place']}" if "place" in end else ""
    link = f'<a href="{lesson}.html{place}">{html.escape(title(lesson))}</a>'
    return (
        f'<tr id="choose-{to}">{head}<td><p class="ch-use">{_inline(end["use"])}</p></td>'
        f'<td><p class="ch-why">{_inline(end["why"])} {link}</p></td></tr>{below}'
    )


@cache
def title(page: str) -> str:
    """The first heading of a notebook of the book."""
    cells = json.loads((BOOK / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "".join(cells[0]["source"]).splitlines()[0].removeprefix("# ")


def _code(text: str) -> str:
    made = highlight(text.rstrip(), PythonLexer(), HtmlFormatter(wrapcode=False))
    return f'<div class="highlight-python notranslate">{made.strip()}</div>'


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
