"""In the margin of a page, beside the first use of a word of the glossary: what it means.

Only pages with room for it show them (book.css); the word itself leads to the glossary everywhere.
"""

import re

from docutils import nodes
from sphinx import addnodes

GLOSSARY = "book/glossary"
END = re.compile(r"(?<=[.])\s")
A_NOTE = 350  # characters of text that a note stands beside, about five lines
WIDEST = 28  # characters of a formula that fits there


def meanings(app) -> dict[str, tuple[int, str, list]]:
    """By the ids of its words: which entry it is, the word, and its first sentence."""
    found = {}
    entries = app.env.get_doctree(GLOSSARY).findall(nodes.definition_list_item)
    for n, entry in enumerate(entries):
        said = first_sentence(next(entry.findall(nodes.paragraph)))
        if any(isinstance(part, nodes.math) and len(part.astext()) > WIDEST for part in said):
            continue
        for term in entry.findall(nodes.term):
            found.update({name: (n, term.astext(), said) for name in term["ids"]})
    return found


def first_sentence(paragraph) -> list:
    """Its nodes up to the first full stop; links are their words."""
    kept = []
    for child in paragraph.children:
        if isinstance(child, nodes.Text) and (end := END.search(child.astext())):
            return [*kept, nodes.Text(child.astext()[: end.start()])]
        linked = isinstance(child, (nodes.reference, addnodes.pending_xref))
        kept.append(nodes.Text(child.astext()) if linked else child.deepcopy())
    return kept


def explain(app, doctree, docname) -> None:
    """Notes before a paragraph, of words in it that the page has not explained yet."""
    if app.builder.format != "html" or docname == GLOSSARY:
        return
    known, told = meanings(app), set()
    for paragraph in list(doctree.findall(nodes.paragraph)):
        if not isinstance(paragraph.parent, nodes.section):
            continue
        room = 1 + len(paragraph.astext()) // A_NOTE
        for link in paragraph.findall(nodes.reference):
            name = link.get("refuri", "").partition("glossary.html#")[2]
            entry, word, said = known.get(name, (None, "", []))
            if entry is None or entry in told or room == 0:
                continue
            told.add(entry)
            room -= 1
            text = [nodes.strong("", word), nodes.Text(" "), *(n.deepcopy() for n in said)]
            note = nodes.container("", nodes.paragraph("", "", *text), classes=["gloss"])
            paragraph.parent.insert(paragraph.parent.index(paragraph), note)
