"""The frame of the site, from its sources: header, figures, models, parameters."""

import base64
import io
import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from docutils import nodes
from docutils.utils import new_document
from helpers_book import BOOK, REPOSITORY
from PIL import Image

sys.path.insert(0, str(BOOK / "_ext"))

import figures
import frame
import models_page
import parameters_page

import book
from rbmbook import load_reference

# ---------------------------------------------------------------- frame and figures


def test_a_part_of_the_contents_that_joins_is_of_the_one_before():
    doors = frame.doors_of_pages(REPOSITORY / "_toc.yml")
    assert doors["book/ais"] == "Learn"
    assert doors["book/check/kiwaki2015"] == "Check"
    assert doors["book/glossary"] == "Learn"
    assert {door for door, _ in frame.DOORS} == set(doors.values())


def test_scripts_are_found_from_a_folder_below():
    def pathto(file, resource):
        return f"../../{file}"

    assert frame.scenes.scripts('<p data-scene="digits">', pathto).count('src="../../_static/') == 4
    assert frame.scenes.scripts("<p>", pathto) == ""


def test_two_viewports_become_one():
    two = 'a<meta name="viewport" content="x">b<meta name="viewport" content="y">c'
    made, changed = frame.one_viewport(two, None)
    assert changed == 1
    assert made.count("viewport") == 1
    assert frame.one_viewport(made, None) == (made, 0)


def test_an_inlined_figure_has_its_own_ids_and_the_themes_colours():
    svg = (
        '<?xml version="1.0"?><svg viewBox="0 0 2 2" width="2"><metadata>x</metadata>'
        '<style type="text/css">*{stroke-linejoin: round}</style><path id="p" '
        'style="stroke: #0b5394"/><use xlink:href="#p" clip-path="url(#c)"/></svg>'
    )
    made = figures.inline(svg, "wide", "A line.", "f1-")
    assert "stroke: var(--fig-blue)" in made
    assert 'id="f1-p"' in made
    assert 'xlink:href="#f1-p"' in made
    assert "url(#f1-c)" in made
    assert "<style" not in made
    assert 'aria-label="A line."' in made


def test_a_smaller_figure_is_the_same_to_the_eye():
    noise = np.random.default_rng(1).integers(0, 50, (200, 200)) * 5
    shades = np.stack([noise, noise, 255 - noise], axis=2).astype(np.uint8)
    png = io.BytesIO()
    Image.fromarray(shades).save(png, "PNG")
    text = base64.b64encode(png.getvalue()).decode()
    path = '<path d="M 43.088521 -0.126 L 7 8.25"/>\n   <use x="1.23456"/>'
    made = figures.smaller(f'<image href="data:image/png;base64,\n{text}"/>{path}')
    assert 'd="M 43.08 -0.12 L 7 8.25"' in made
    assert '\n<use x="1.23"/>' in made
    assert len(made) < 0.7 * len(text)
    again = re.search(r"base64,([^\"]+)", made)[1]
    back = np.asarray(Image.open(io.BytesIO(base64.b64decode(again))).convert("RGB"), int)
    assert abs(back - shades).max() <= 8  # of 255: 32 levels of a colour


# ---------------------------------------------------------------- the header


@pytest.mark.parametrize("fork", ["", "https://github.com/you/your-fork/"])
def test_the_header_links_the_repository_if_it_has_an_address(fork):
    config = SimpleNamespace(fork=fork, html_theme_options={"navbar_end": ["theme-switcher.html"]})
    book.use_fork(None, config)
    links = {link["name"]: link["url"] for link in config.html_theme_options.get("icon_links", [])}
    assert ("navbar-icon-links.html" in config.html_theme_options["navbar_end"]) == bool(fork)
    assert links == ({
        "Repository": "https://github.com/you/your-fork",
        "Issues": "https://github.com/you/your-fork/issues",
        "Binder": "https://mybinder.org/v2/gh/you/your-fork/HEAD?urlpath=lab/tree/book",
    } if fork else {})  # fmt: skip


@pytest.mark.parametrize("fork", ["", "https://github.com/you/your-fork"])
def test_what_to_cite_has_a_year_and_the_address_if_there_is_one(fork):
    cff = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    entry = book.entry(cff, "2026", fork)
    assert f"version = {{{cff['version']}}}" in entry
    assert "author  = {{The rbmlib developers}},\n  year    = {2026}" in entry
    assert (f"url     = {{{fork}}}" in entry) == ("url" in entry) == bool(fork)
    assert (f"<{fork}>" in book.address(fork)) == bool(fork)


# ---------------------------------------------------------------- models


def document(*parts):
    made = new_document("page")
    made += parts
    return made


def test_every_model_has_a_row_and_images_have_dreams(tmp_path):
    page = models_page.page()
    for info in load_reference().values():
        (row,) = re.findall(rf'(?s)<section class="model" id="{info.model}">.*?</section>', page)
        assert f"{info.n_visible:,} × {info.n_hidden:,} units" in row
        assert ("dreams" in row) == (info.n_visible == 784)
    models_page.draw(tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == page.count('class="dreams"') > 10


def test_names_of_models_become_links_but_not_in_titles_or_links():
    text = nodes.paragraph("", "", nodes.literal("", "h20"), nodes.literal("", "h21"))
    title = nodes.title("", "", nodes.literal("", "h20"))
    link = nodes.paragraph("", "", nodes.reference("", "", nodes.literal("", "h20")))
    made = document(nodes.section("", title, text, link))
    app = SimpleNamespace(
        builder=SimpleNamespace(get_relative_uri=lambda here, there: "models.html")
    )
    models_page.link_names(app, made, "book/ais")
    found = [node["refuri"] for node in made.findall(nodes.reference) if "refuri" in node]
    assert found == ["models.html#h20"]


def test_an_inlined_figure_keeps_the_class_by_which_a_script_finds_it(tmp_path):
    svg = '<svg viewBox="0 0 2 2"><desc>matplotlib</desc></svg>'
    (tmp_path / "front.svg").write_text(svg, encoding="utf-8")
    page = '<p><img class="front-still" src="front.svg" alt="Chains."></p>'
    made, changed = figures.inlined(page, tmp_path / "intro.html")
    assert changed == 1
    assert 'class="book-figure front-still only"' in made
    assert 'aria-label="Chains."' in made


def test_what_chapters_take_is_read_from_their_cells(tmp_path):
    source = 'model: str = ""  # a file\nn_chains: int = 10_000  # chains\nx = 3\n'
    cells = [
        {"source": "y: int = 1  # no parameter", "metadata": {}},
        {"source": source, "metadata": {"tags": ["parameters"]}},
    ]
    (tmp_path / "check").mkdir()
    (tmp_path / "_tools").mkdir()
    for name, held in (("one", cells), ("two", cells[:1]), ("check/a", cells), ("_tools/b", cells)):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": held}))
    assert parameters_page.parameters(tmp_path / "one.ipynb") == {
        "model": ('""', "a file"),
        "n_chains": ("10_000", "chains"),
    }
    assert parameters_page.page(tmp_path).splitlines()[2:] == [
        "| {doc}`check/a` | yes | no | `n_chains` 10_000 |",
        "| {doc}`one` | yes | no | `n_chains` 10_000 |",
    ]
