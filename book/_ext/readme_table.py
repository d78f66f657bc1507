"""Write into README.md what was reproduced, from the stored pages, and draw its picture again.

python book/_ext/readme_table.py     # after `make notebooks`; a test compares
"""

from collections import Counter
from pathlib import Path

import front
import notes_page
from check_layout import SOURCES

from rbmbook import verdicts as words

BOOK = Path(__file__).resolve().parents[1]
README = BOOK.parent / "README.md"
BEGIN, END = "<!-- verdicts, by book/_ext/readme_table.py -->\n", "<!-- end of verdicts -->"
AUDITS = {
    "Kiwaki": "varopt_audit", "Carlson": "rts_audit", "Li": "leaky_rbm_audit", "Wang": "ais_audit",
}  # fmt: skip
COLUMNS = {
    "reproduced": (words.REPRODUCED, words.SIGN_ONLY),
    "contradicted": (words.CONTRADICTED,),
    "argued, not measured": (words.ARGUED,),
    "depends on what is not stated": (words.DEPENDS,),
    "not decided": (words.NOT_DECIDED, words.CEILING),
    "cannot be checked": (words.UNCHECKED,),
}


def table() -> str:
    """Markdown: a row a source, with the command that runs most of its page again."""
    found = [v for page in notes_page.chapters(BOOK) for v in notes_page.verdicts_in(page)]
    rows = [f"| source | claims | {' | '.join(COLUMNS)} | run it again |",
            f"|---|---|{'---|' * len(COLUMNS)}---|"]  # fmt: skip
    for source, (name, subject) in SOURCES.items():
        by = Counter(v.outcome for v in found if v.source == source)
        counts = [str(sum(by[o] for o in outcomes)) for outcomes in COLUMNS.values()]
        command = f"`make chapter NAME={AUDITS[source]}`"
        cells = [f"{name}: {subject}", str(by.total()), *counts, command]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def filled(text: str) -> str:
    """The README with the table of now."""
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:start]}\n{table()}\n\n{text[end:]}"


if __name__ == "__main__":
    front.draw(BOOK / "front.svg")
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
