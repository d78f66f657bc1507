"""Write the article on the course, in the form that journals of open education take.

    make articles                          (or: python book/_tools/course_article.py)

The text is written by hand (``course_article.md``); what it says of numbers of tasks and points is
counted in the exercises. Writes ``paper.md`` and ``paper.bib`` for the journal, and a page and a
PDF to read, into _build/articles/course.
"""

import codecs
import datetime
import html
import re
from pathlib import Path

import latexcodec  # noqa: F401  (registers "ulatex")
import yaml
from articles import STYLE, TARGET, print_pdf
from exercises import SOURCES
from markdown_it import MarkdownIt
from pybtex.database import BibliographyData, Entry, parse_file

import rbmlib
from rbmbook.exercises import tasks_of

TEXT = Path(__file__).with_suffix(".md")
LIBRARY, PROJECT = "line", "project"  # pages that are not a lesson's
CITATION = re.compile(r"\[(@\w+(?:; @\w+)*)\]")


def counted() -> dict[str, object]:
    """What the text says of the exercises."""
    pages = {p.stem: tasks_of(p.stem) for p in SOURCES.glob("*.md") if p.stem != "index"}
    lessons = {name: tasks for name, tasks in pages.items() if name not in (LIBRARY, PROJECT)}
    points = {name: sum(t.points for t in tasks.values()) for name, tasks in pages.items()}
    weeks = (SOURCES.parent / "teachers.md").read_text(encoding="utf-8").partition("## Four weeks")
    rows = re.findall(r"^\| (\d)\. ([^|]+?) \|.*\|$", weeks[2], flags=re.MULTILINE)
    return {
        "n_lessons": len(lessons), "n_tasks": sum(map(len, lessons.values())),
        "n_points": sum(points[name] for name in lessons), "n_steps": len(pages[LIBRARY]),
        "weeks": "\n".join(f"{week}. {subject.replace('$', '')}" for week, subject in rows),
    }  # fmt: skip


def in_words(entry: Entry) -> str:
    """Author and year, as a reader of the page sees a citation."""
    names = [" ".join(p.last_names) for p in entry.persons.get("author", [])]
    many = f"{names[0]} and others" if len(names) > 2 else " and ".join(names)
    return plain(f"{many} {entry.fields.get('year', '')}").strip()


def plain(text: str) -> str:
    """BibTeX's accents and braces as letters."""
    return re.sub(r"[{}]", "", codecs.decode(text, "ulatex"))


def page_of(front: dict, text: str, entries: dict[str, Entry]) -> str:
    """The article as HTML, with its citations in words and a list of references."""

    def cited(match):
        return "(" + "; ".join(in_words(entries[k.strip("@ ")]) for k in match[1].split(";")) + ")"

    body = MarkdownIt().render(CITATION.sub(cited, text))
    listed = "\n".join(
        f"<li>{html.escape(in_words(entry))}. {html.escape(plain(entry.fields['title']))}.</li>"
        for entry in sorted(entries.values(), key=in_words)
    )
    title = html.escape(front["title"])
    byline = f"The rbmlib developers · rbmlib {rbmlib.__version__} · {front['date']}"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<style>{STYLE}</style></head>\n<body>\n<p class="kind">Open education</p>\n'
        f"<h1>{title}</h1>\n<p>{byline}</p>\n{body}\n<ul>\n{listed}\n</ul>\n</body></html>\n"
    )


def main() -> None:
    _, head, text = TEXT.read_text(encoding="utf-8").split("---\n", 2)
    front = yaml.safe_load(head) | {"date": datetime.date.today().isoformat()}
    text = text.format(**counted())
    known = parse_file(str(SOURCES.parent / "references.bib")).entries
    keys = {k.strip("@ ") for m in CITATION.finditer(text) for k in m[1].split(";")}
    entries = {key: known[key] for key in sorted(keys)}
    folder = TARGET / "course"
    folder.mkdir(parents=True, exist_ok=True)
    facts = yaml.safe_dump(front, allow_unicode=True, sort_keys=False, width=100)
    (folder / "paper.md").write_text(f"---\n{facts}---\n\n{text}", encoding="utf-8")
    BibliographyData(entries).to_file(str(folder / "paper.bib"), bib_format="bibtex")
    page = folder / "paper.html"
    page.write_text(page_of(front, text, entries), encoding="utf-8")
    written = "PDF, " if print_pdf(page) else "no Chromium here, so no PDF; "
    print(f"{front['title']}: {written}paper.md, paper.bib and HTML in {folder.name}")


if __name__ == "__main__":
    main()
