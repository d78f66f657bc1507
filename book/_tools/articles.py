"""Write a replication article on each of the four sources, from the book's own verdicts.

    make articles                          (or: python book/_tools/articles.py [SOURCE ...])

The text of an article is written by hand (``articles/*.md``) and holds no result. Every number and
every verdict comes from the outputs of the stored notebooks and from ``data/published``, so an
article cannot differ from the book. The title begins as in journals for replications: with [Re],
or with [¬Re] where more claims of the source are contradicted than reproduced.

Writes an HTML page and, where Chromium is here, a PDF into _build/articles.
"""

import argparse
import datetime
import html
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import yaml
from markdown_it import MarkdownIt

import rbmlib
from rbmbook.claims import Claim, claims
from rbmbook.verdicts import (
    CONTRADICTED,
    OUTCOMES,
    REPRODUCED,
    SYMBOLS,
    Verdict,
    in_brackets,
    verdicts_of,
)

ROOT = Path(__file__).parents[2]
TEXTS = Path(__file__).parent / "articles"
TARGET = ROOT / "_build" / "articles"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

STYLE = """
@page { size: A4; margin: 18mm 16mm 20mm; }
body { font: 10.5pt/1.45 Georgia, "Noto Serif", serif; max-width: 46em;
  margin: 2em auto; padding: 0 1em; color: #111; }
@media print { body { margin: 0; padding: 0; max-width: none; } }
h1 { font-size: 19pt; line-height: 1.2; margin: 0.3em 0; } h2 { font-size: 13pt; }
.kind { text-transform: uppercase; letter-spacing: 0.08em; font-size: 9pt; color: #555; }
.facts { border-left: 3px solid #888; padding-left: 0.8em; font-size: 9.5pt; }
table { border-collapse: collapse; width: 100%; font-size: 8.5pt; line-height: 1.3; }
th, td { border-bottom: 0.5pt solid #bbb; padding: 0.25em 0.5em; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
thead { display: table-header-group; } tr { break-inside: avoid; }
td:last-child { width: 15%; } caption { text-align: left; padding: 0.3em 0; }
"""
MEANING = (
    "A claim says in which region an effect lies, and our independent repeats give an interval for "
    "the effect. The claim is reproduced if the whole interval lies in the region, contradicted if "
    'all of it lies outside, and open if the interval overlaps both. The outcome is "depends" if '
    "the source leaves a setting open, and the claim is reproduced with one value of the setting "
    'and contradicted with another. Margins of "no difference" were stated beforehand, with a '
    "reason."
)


def judged_claims(source: str, folder: Path) -> list[tuple[Claim, Verdict | None]]:
    """Every claim of a source, in its order, with the verdict that a notebook shows, if any."""
    found = verdicts_of(folder)
    every = (c for c in claims().values() if c.source == source)
    return [(c, found[c.name][0] if c.name in found else None) for c in every]


def prefix(counts: Counter) -> str:
    """[¬Re] where more claims are contradicted than reproduced."""
    return "[¬Re]" if counts[CONTRADICTED] > counts[REPRODUCED] else "[Re]"


def abstract(front: dict, judged: list, counts: Counter) -> str:
    n = sum(counts.values())
    parts = ", ".join(f"{counts[o]} {o}" for o in OUTCOMES if counts[o])
    waiting = len(judged) - n
    rest = f" {waiting} more ha{'s' if waiting == 1 else 've'} no verdict." if waiting else ""
    return (
        f"{len(judged)} claims of {front['source']} ({front['title']}), those that its authors "
        "would list or a reader would check, were put to the test by an independent "
        f"implementation. {n} have a verdict: {parts}.{rest}"
    )


def claim_table(judged: list) -> str:
    """Paper, ours, effect and verdict of every claim."""
    rows = []
    for claim, v in judged:
        effect = in_brackets(v.effect, v.low, v.high) if v else ""
        effect = f"{effect} {v.unit} [{1 - v.alpha:.1%}]" if effect else v.words if v else ""
        outcome = f"{SYMBOLS[v.outcome]} {v.outcome}" if v else "no verdict in this run"
        rows.append([f"{claim.claim} ({claim.place})", claim.printed, v.ours if v else "",
                     effect, outcome])  # fmt: skip

    def cells(tag: str, texts) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(t)}</{tag}>" for t in texts) + "</tr>"

    heads = ["claim (place in the source)", "printed", "ours", "effect [interval]", "verdict"]
    caption = "Every claim. Effects are ours less printed, or what the claim is about."
    body = "\n".join(cells("td", row) for row in rows)
    return (f"<table><caption>{caption}</caption>\n<thead>{cells('th', heads)}</thead>"
            f"\n<tbody>\n{body}\n</tbody></table>")  # fmt: skip


def _link(front: dict) -> str:
    return f"https://doi.org/{front['doi']}" if front["doi"] else ""


def article(front: dict, text: str, folder: Path) -> tuple[str, str]:
    """Its title, and the page as HTML."""
    judged = judged_claims(front["source"], folder)
    counts = Counter(v.outcome for _, v in judged if v is not None)
    if not counts:
        raise SystemExit(f"error: no notebook in {folder} has a verdict on {front['source']}")
    title = f"{prefix(counts)} {front['title']}"
    summary = abstract(front, judged, counts)
    doi = f' <a href="{_link(front)}">{_link(front)}</a>' if front["doi"] else ""
    rule = ("The title begins with [Re] if at least as many claims are reproduced as are "
            "contradicted, and with [¬Re] otherwise.")  # fmt: skip
    intervals = sum(v.intervals for _, v in judged if v is not None)
    how = f"{MEANING} The verdicts rest on {intervals} intervals. {rule}"
    rerun = (f"Chapters of the book: {front['chapters']}. The repository holds the code, the "
             "models, the stored tables with seed, settings and seconds of every row, and the "
             "command that runs each again. Code: BSD-3-Clause; text: CC BY 4.0.")  # fmt: skip
    body = f"""<p class="kind">Replication · computational statistics</p>
<h1>{html.escape(title)}</h1>
<p>The rbmlib developers · rbmlib {rbmlib.__version__} · {datetime.date.today().isoformat()}</p>
<p class="facts">A replication of: {html.escape(front["citation"])}{doi}</p>
<h2>Abstract</h2>\n<p>{html.escape(summary)}</p>
{MarkdownIt().render(text)}
<h2>Results</h2>\n<p>{html.escape(how)}</p>
<h2>Code and data</h2>\n<p>{html.escape(rerun)}</p>
<h2>Every claim</h2>\n{claim_table(judged)}"""
    page = (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>'
            f"{html.escape(title)}</title>\n<style>{STYLE}</style></head>\n<body>\n{body}\n</body>"
            "</html>\n")  # fmt: skip
    return title, page


def print_pdf(page: Path) -> bool:
    """Print a page by a browser without a window; False if there is none."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return False
    target = page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
             "--no-pdf-header-footer", f"--print-to-pdf={target}", page.resolve().as_uri()],
            capture_output=True, check=True, timeout=300,
        )  # fmt: skip
    return target.is_file()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = sorted(path.stem for path in TEXTS.glob("*.md"))
    parser.add_argument("source", nargs="*", default=names, metavar="SOURCE", help=", ".join(names))
    options = parser.parse_args()
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in options.source:
        _, head, text = (TEXTS / f"{name}.md").read_text(encoding="utf-8").split("---\n", 2)
        title, page = article(yaml.safe_load(head), text, ROOT / "book")
        file = TARGET / f"{name}.html"
        file.write_text(page, encoding="utf-8")
        written = "PDF and " if print_pdf(file) else "no Chromium here, so no PDF; "
        print(f"{title}: {written}HTML in {TARGET.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
