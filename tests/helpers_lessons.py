"""How much there is to read in each lesson; ``python tests/helpers_lessons.py`` prints the table.

Words are those of the text and of the boxes in it, exercises and solutions included, and of
sentences that code writes. Formulas, code, tables, captions, the options of directives, and the
fold `RUN` at the end are not counted. A role is a word, or as many as its text has.
"""

import re
from pathlib import Path

import yaml
from helpers_book import BOOK, FOLDED, figures, read, source, tags

RUN = "Run this page yourself"
ORDER = ["start", "mcmc_basics", "ais", "varopt", "rts", "rts_continuous", "sams", "tap"]
ORDER += ["tracking", "leaky_rbm", "proteins", "failures"]
MOST_WORDS, MOST_BEFORE = 1500, 150

FENCE = re.compile(r"(?ms)^[ \t]*(`{3,}|:{3,})\{?([\w-]*)\}?([^\n]*)\n(.*?)^[ \t]*\1[ \t]*$")
SPOKEN = {"admonition", "exercise", "solution", "note", "warning", "tip"}
ROLE = re.compile(r"\{[\w:-]+\}`([^`<]*)(?:<[^`]*>)?`")
NUMBER = re.compile(r"(?<![\w.])[+−-]?\d[\d,]*(?:\.\d+)?")


def _opened(fence) -> str:
    """What a reader reads of a block between fences."""
    _, kind, title, body = fence.groups()
    if kind.split(":")[0] not in SPOKEN and not fence[0].lstrip("`: ").startswith("{prf:"):
        return "\n\n"
    if RUN in title:
        return "\n\n"
    title = title if kind in ("admonition", "exercise") else ""
    return f"\n{title}\n{prose(body)}\n"


def prose(text: str) -> str:
    """Markdown as the words that a reader reads of it."""
    text = re.sub(r"(?s)<!--.*?-->", " ", text)
    text = FENCE.sub(_opened, text)
    text = re.sub(r"(?s)\$\$.*?\$\$(?: *\([\w-]+\))?", " ", text)
    text = re.sub(r"(?m)^(?::[\w-]+:.*|\([\w-]+\)=|\|.*|<.*>)\s*$", "", text)
    text = ROLE.sub(lambda role: role[1].strip() or "cited", text)
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"(?<!\\)\$[^$]+\$", " ", text)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def words(text: str) -> int:
    return len([word for word in prose(text).split() if re.search(r"\w", word)])


def spoken(cell) -> str:
    """The text of a cell of text, or the sentences that its code writes."""
    if cell["cell_type"] == "markdown":
        return source(cell)
    written = [o.get("data", {}).get("text/markdown", "") for o in cell["outputs"]]
    return "\n\n".join("".join(lines) for lines in written)


def opens_with_a_figure(path: Path) -> bool:
    scenes = yaml.safe_load((BOOK / "scenes.yml").read_text(encoding="utf-8"))
    return path.parent == BOOK and path.stem in scenes


def words_before_the_first_figure(path: Path, cells) -> int:
    """The figure of ``scenes.yml`` comes after what a student can do, which are words as well."""
    if opens_with_a_figure(path):
        lessons = yaml.safe_load((BOOK / "lessons.yml").read_text(encoding="utf-8"))
        return sum(words(line) for line in lessons.get(path.stem, []))
    count = 0
    for cell in cells:
        if cell["cell_type"] == "code" and figures([cell]):
            return count
        count += words(spoken(cell))
    return count


def measured(path: Path) -> dict[str, int]:
    """Words, words before the first figure, figures, folds and numbers in prose."""
    cells = read(path)["cells"]
    text = "\n\n".join(spoken(cell) for cell in cells)
    folds = len(re.findall(r"(?m)^:class:.*\bdropdown\b", text)) + text.count("<details")
    return {
        "words": words(text),
        "before": words_before_the_first_figure(path, cells),
        "figures": len(figures(cells)) + opens_with_a_figure(path),
        "folds": folds + sum(bool(FOLDED & set(tags(cell))) for cell in cells),
        "numbers": len(NUMBER.findall(prose(text))),
    }


def lesson_paths() -> list[Path]:
    return [BOOK / f"{name}.ipynb" for name in ORDER]


def has_run_fold(path: Path) -> bool:
    return any(f"{{admonition}} {RUN}\n" in source(cell) for cell in read(path)["cells"])


if __name__ == "__main__":
    print(f"{'lesson':16}{'words':>7}{'before':>8}{'figures':>9}{'folds':>7}{'numbers':>9}")
    for lesson in lesson_paths():
        row = measured(lesson)
        print(
            f"{lesson.stem:16}{row['words']:7}{row['before']:8}{row['figures']:9}"
            f"{row['folds']:7}{row['numbers']:9}"
        )
