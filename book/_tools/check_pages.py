"""Check that the rendered book has every page, and that each holds what its source holds.

    python book/_tools/check_pages.py [--source _build/src] [--html _build/html]

A build that ends without an error may still have left a page out, or rendered one that is empty.
So for every page that the table of contents lists: it is there; its heading is that of its source;
it has as many figures as its source has outputs with a picture; no error stands in it; and the
navigation of the front page leads to it. Exit code 1, with a line a fault.
"""

import argparse
import json
import re
import sys
from html import unescape
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PICTURES = ("image/png", "image/svg+xml", "image/jpeg")


def listed(toc: Path) -> list[str]:
    """Pages of the table of contents, without a suffix, the front page first."""
    content = yaml.safe_load(toc.read_text(encoding="utf-8"))

    def below(node) -> list[str]:
        if isinstance(node, list):
            return [page for part in node for page in below(part)]
        own = [node["file"]] if "file" in node else []
        children = (node.get(key, []) for key in ("parts", "chapters", "sections"))
        return own + [page for part in children for page in below(part)]

    return [content["root"], *below(content)]


def faults(page: str, source: Path, html: Path) -> list[str]:
    """What is wrong with one rendered page."""
    rendered = html / f"{page}.html"
    if not rendered.is_file():
        return ["not rendered"]
    text = rendered.read_text(encoding="utf-8")
    article = re.search(r"<article.*</article>", text, re.DOTALL)
    body = article[0] if article else ""
    notebook, markdown = source / f"{page}.ipynb", source / f"{page}.md"
    if not body:
        return ["rendered without any content"]
    cells = json.loads(notebook.read_text("utf-8"))["cells"] if notebook.is_file() else []
    written = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"] or [
        markdown.read_text(encoding="utf-8")
    ]
    found = []
    heading, wanted = first_heading(body), re.search(r"(?m)^# +(.+)$", "\n".join(written))
    if wanted and not words(heading).endswith(words(wanted[1])):  # chapters have numbers
        found.append(f"its heading is {heading!r}: expected {wanted[1]!r}")
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    pictures = sum(any(kind in o.get("data", {}) for kind in PICTURES) for o in outputs)
    shown = len(re.findall(r"<img\b|<svg\b", body))
    if shown < pictures:
        found.append(f"{shown} figures: its notebook has {pictures}")
    if any(output["output_type"] == "error" for output in outputs) or "Traceback (most" in body:
        found.append("an error stands in it")
    return found


def first_heading(body: str) -> str:
    match = re.search(r"<h1>(.*?)(?:<a class=\"headerlink\"|</h1>)", body, re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "", match[1])).strip() if match else ""


def words(heading: str) -> str:
    """Letters and digits of a heading: mark-up and mathematics are written differently."""
    return re.sub(r"\W", "", re.sub(r"\{[a-z]+\}|\$[^$]*\$|\\\(.*?\\\)", "", heading))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--source", type=Path, default=ROOT / "_build" / "src")
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    options = parser.parse_args()
    toc = options.source / "_toc.yml"
    pages = listed(toc)
    front = options.html / f"{pages[0]}.html"
    links = front.read_text(encoding="utf-8") if front.is_file() else ""
    wrong = 0
    for page in pages:
        found = faults(page, options.source, options.html)
        link = "#" if page == pages[0] else rf"(?:[^\"]*/)?{Path(page).name}\.html"
        if not re.search(f'href="{link}"', links):
            found.append("the front page has no link to it")
        for fault in found:
            print(f"error: {page}: {fault}", file=sys.stderr)
        wrong += bool(found)
    if not wrong:
        print(f"all {len(pages)} pages are rendered, with their headings and figures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
