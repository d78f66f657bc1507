"""Heads of pages, minutes of reading, and what stands in the margin."""

import sys
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from helpers_book import BOOK, REPOSITORY, toc_entries

sys.path.insert(0, str(BOOK / "_ext"))

import glosses
import heads

HTML = REPOSITORY / "_build" / "tests" / "_build" / "html"


def document(*parts):
    made = new_document("page")
    made += parts
    return made


def test_a_description_is_whole_sentences_of_the_first_paragraph():
    words = "This is a sentence of some length, with an end. " * 6
    made = heads.description(document(nodes.paragraph("", "Short."), nodes.paragraph("", words)))
    assert made == ("This is a sentence of some length, with an end. " * 4).strip()
    raw = nodes.raw("", f"<div><p class='lead'>A &lt; B; {words}</p></div>", format="html")
    assert heads.description(document(raw)).startswith("A < B; This is a sentence")
    cut = heads.description(document(nodes.paragraph("", "word " * 100)))
    assert len(cut) <= heads.LONGEST + 2
    assert cut.endswith("word …")


def test_minutes_are_of_text_and_not_of_code():
    text, code = nodes.paragraph("", "word " * 600), nodes.literal_block("", "code " * 900)
    assert heads.minutes(document(text, code)) == 3
    assert heads.minutes(document(code)) == 1


# ---------------------------------------------------------------- notes in the margin


def glossary(*entries):
    made = nodes.definition_list()
    for words, *said in entries:
        terms = [nodes.term("", word, ids=[f"term-{word}"]) for word in words]
        made += nodes.definition_list_item(
            "", *terms, nodes.definition("", nodes.paragraph("", "", *said))
        )
    return document(made)


def test_a_word_is_explained_in_the_margin_once_where_there_is_room():
    long = nodes.math("", "x" * (glosses.WIDEST + 1))
    entries = glossary(
        (["AIS", "annealing"], nodes.Text("Chains of "), nodes.emphasis("", "one"),
         nodes.Text(" way. More words.")),
        (["base"], nodes.Text("It begins there. And so on.")),
        (["wide"], nodes.Text("It is "), long),
    )  # fmt: skip
    app = SimpleNamespace(
        builder=SimpleNamespace(format="html"),
        env=SimpleNamespace(get_doctree={"book/glossary": entries}.get),
    )

    def said(*words, more=""):
        links = [nodes.reference("", w, refuri=f"glossary.html#term-{w}") for w in words]
        return nodes.paragraph("", "", *links, nodes.Text(more))

    section = nodes.section("", said("AIS", "base"), said("annealing", "wide"), said("base"))
    glosses.explain(app, document(section), "book/ais")
    kinds = [type(child).__name__ for child in section]
    assert kinds == ["container", "paragraph", "paragraph", "container", "paragraph"]
    assert section[0].astext() == "AIS Chains of one way."
    assert section[3].astext() == "base It begins there."
    roomy = nodes.section("", said("AIS", "base", more="x" * glosses.A_NOTE))
    glosses.explain(app, document(roomy), "book/ais")
    assert [type(child).__name__ for child in roomy] == ["container", "container", "paragraph"]


@pytest.mark.pages
@pytest.mark.parametrize("name", [page for page, _ in toc_entries()])
def test_a_page_can_be_previewed(name):
    """Description, icon and picture: what stands in results of a search, and beside a link."""
    if not HTML.is_dir():
        pytest.skip("needs `make pages`")
    soup = BeautifulSoup((HTML / f"{name}.html").read_text(), "html.parser").head
    said = soup.find("meta", {"name": "description"})["content"]
    assert 40 <= len(said) <= 202
    assert soup.find("meta", {"property": "og:title"})["content"]
    picture = soup.find("meta", {"property": "og:image"})["content"]
    icon = soup.find("link", {"rel": "icon", "type": "image/svg+xml"})["href"]
    for address in (picture, icon):
        assert (HTML / name).parent.joinpath(address).resolve().is_file(), address
