"""Print all lessons as one PDF, from the pages that are rendered in _build/html.

    make articles                          (or: python book/_tools/lessons_pdf.py)

The pages stand one after the other in one page, with their folds open. A link to another lesson
leads to its place in the PDF; of links to other pages the words remain.
"""

import re
from pathlib import Path

import yaml
from articles import ROOT, TARGET, print_pdf

PAGES = ROOT / "_build" / "html" / "book" / "learn"
STYLE = """<style>
@page { size: A4; margin: 16mm 15mm 18mm; }
html { font-size: 11.5px !important; } html, body { background: #fff !important; }
.lesson { break-before: page; } .bd-article, .bd-article > section { max-width: none !important; }
.bd-article p, .bd-article li { max-width: none !important; }
pre { white-space: pre-wrap !important; overflow: visible !important; }
.headerlink, .page-tools button, .page-tools a, .copybtn { display: none; }
figure, .highlight, table, .admonition-title { break-inside: avoid; } h2, h3 { break-after: avoid; }
</style>"""


def lessons() -> list[str]:
    """Names of the pages under Learn, in their order."""
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    learn = next(part for part in parts if part["caption"] == "Learn")
    return [Path(chapter["file"]).stem for chapter in learn["chapters"]]


def lesson(name: str, others: list[str]) -> str:
    """The text of a page, its ids and its links made those of the whole."""
    page = (PAGES / f"{name}.html").read_text(encoding="utf-8")
    text = page[page.index('<article class="bd-article">') : page.index("</article>")]
    text = re.sub(r"(?s)<script\b.*?</script>", "", text)

    def link(match):
        file, _, place = match[1].partition("#")
        if re.match(r"https?:", file):
            return match[0]
        target = Path(file).stem or name
        if (file and Path(file).parent != Path()) or target not in others:
            return ""
        return f'href="#{target}.{place}"' if place else f'href="#{target}"'

    text = re.sub(r'\bhref="([^"]*)"', link, text)
    text = re.sub(r'\bid="', f'id="{name}.', text)
    text = re.sub(r'xlink:href="#(?!\w+\.)', f'xlink:href="#{name}.', text)
    text = text.replace("url(#", f"url(#{name}.").replace("<details", "<details open")
    return f'<div class="lesson" id="{name}">{text}</article></div>'


def whole() -> str:
    """One page of all lessons, with the head of the first: its styles and what sets formulas."""
    names = lessons()
    first = (PAGES / f"{names[0]}.html").read_text(encoding="utf-8")
    head = re.sub(r'data-theme="auto"', 'data-theme="light"', first[: first.index("</head>")])
    head = re.sub(r"(?s)<script>(?!window\.MathJax).*?</script>", "", head)
    head = re.sub(r'<script[^>]*src="(?!\.\./\.\./_static/mathjax)[^"]*"[^>]*></script>', "", head)
    body = "\n".join(lesson(name, names) for name in names)
    return f'{head}{STYLE}</head><body class="printed">{body}</body></html>\n'


def main() -> None:
    if not PAGES.is_dir():
        raise SystemExit("error: no pages in _build/html; run `make pages` or `make book` first")
    page = PAGES / "lessons.html"  # beside the pages, whose styles and pictures it uses
    page.write_text(whole(), encoding="utf-8")
    try:
        printed = print_pdf(page)
    finally:
        page.unlink()
    if printed:
        TARGET.mkdir(parents=True, exist_ok=True)
        pdf = page.with_suffix(".pdf").replace(TARGET / "lessons.pdf")
        print(f"all lessons: {pdf.relative_to(ROOT)}, {pdf.stat().st_size / 1e6:.1f} MB")
    else:
        print("no Chromium here, so no PDF of the lessons")


if __name__ == "__main__":
    main()
