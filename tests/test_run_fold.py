"""`run_fold`: cells that a reader wants last move into the fold of a lesson, each once."""

import sys

from docutils import nodes
from helpers_book import BOOK

sys.path.insert(0, str(BOOK / "_ext"))
import run_fold


def cell(name, *tags):
    return nodes.container(ids=[name], nb_element="cell_code", classes=[f"tag_{t}" for t in tags])


def page(title):
    box = nodes.admonition("", nodes.title("", title), nodes.paragraph("", "It takes a minute."))
    before = [cell("parameters", "parameters"), cell("setup", "run"), cell("shown")]
    after = [cell("check"), cell("version", "run")]
    return nodes.section("", *before, box, *after), box


def names(node):
    return [made["ids"][0] for made in node.findall(nodes.container)]


def test_what_is_run_first_and_what_is_checked_last_stand_in_the_fold_in_their_order():
    section, box = page(run_fold.TITLE)
    run_fold.gather(None, section)
    assert names(box) == ["parameters", "setup", "check", "version"]
    assert [type(node) for node in box[:2]] == [nodes.title, nodes.paragraph]
    assert names(section) == ["shown", *names(box)]


def test_parameters_that_are_shown_stay_where_they_are():
    section, box = page(run_fold.TITLE)
    section[0]["classes"].append("tag_shown")
    run_fold.gather(None, section)
    assert names(box) == ["setup", "check", "version"]
    assert names(section)[0] == "parameters"


def test_a_page_without_the_fold_stays_as_it_is():
    section, box = page("Another box")
    run_fold.gather(None, section)
    assert names(section) == ["parameters", "setup", "shown", "check", "version"]
    assert not names(box)
