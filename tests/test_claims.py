"""The list of claims, the verdicts that the notebooks hold, and the page that is made of them."""

import csv
import io
import json
import re
from collections import Counter

import check_page
import nbformat
import pytest
from helpers_book import BOOK, chapter_paths, read

from rbmbook import judge
from rbmbook import verdicts as vs
from rbmbook.claims import SOURCES, claim, claims, notebooks, printed_number
from rbmbook.verdicts import verdicts_of


def test_each_claim_is_whole():
    for row in claims().values():
        assert all(field.strip() == field for field in row), row
        assert all(row[:6]), row.name
        assert row.name.startswith(f"{row.source.lower()}-")
        every = [row.name, *row.old.split()]
        assert all(re.fullmatch(r"[a-zA-Z0-9-]+", name) for name in every), "anchors of the page"
    assert len({row.claim for row in claims().values()}) == len(claims()), "two of the same words"
    names = [n for row in claims().values() for n in {row.name, *row.old.split()}]
    assert not [n for n, times in Counter(names).items() if times > 1], "an address of two claims"


def test_stored_verdicts_are_of_the_claims_of_their_notebook():
    for verdict, notebook in verdicts_of(BOOK).values():
        assert notebook == f"check/{SOURCES[claim(verdict.name).source][2]}"
        assert verdict.outcome in vs.OUTCOMES


def test_stored_cards_say_what_the_list_of_claims_says():
    for path in chapter_paths():
        for cell in read(path)["cells"]:
            for output in cell.get("outputs", []):
                if fields := output.get("data", {}).get(vs.MIME):
                    cards = "\n".join(vs.card(vs.from_json(v)) for v in fields)
                    assert "".join(output["data"]["text/html"]) == cards, f"run {path.stem} again"


def test_every_claim_has_a_verdict():
    assert set(claims()) - set(verdicts_of(BOOK)) == set()


def test_an_unlisted_claim_is_refused():
    with pytest.raises(ValueError, match=r"name is 'kiwaki-eq8'.*kiwaki-eq9"):
        claim("kiwaki-eq8")


@pytest.mark.parametrize(
    ("text", "value", "rounding"),
    [("10.00", 10, 0.005), ("1.04e-4", 1.04e-4, 5e-7), ("87", 87, 0.5), ("-182.4", -182.4, 0.05)],
)
def test_rounding_of_a_printed_number(text, value, rounding, monkeypatch):
    row = next(iter(claims().values()))._replace(name="x", printed=text)
    monkeypatch.setattr("rbmbook.claims.claims", lambda: {"x": row})
    assert printed_number("x") == (value, pytest.approx(rounding))
    assert printed_number("x", "2.50") == (2.5, pytest.approx(0.005))


# ---------------------------------------------------------------- the front page of Check


def verdict(name: str, outcome: str = vs.REPRODUCED, **more) -> vs.Verdict:
    return judge.left_open(name, "why")._replace(outcome=outcome, **more)


def write_notebook(path, *verdicts, text="# Title"):
    path.parent.mkdir(exist_ok=True)
    data = {"text/html": "cards", vs.MIME: [vs.as_json(v) for v in verdicts]}
    cell = nbformat.v4.new_code_cell("show_verdicts(found)", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("display_data", data)]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text), cell])
    nbformat.write(notebook, path)


FEW = {"intervals": 2, "alpha": 0.05}
KIWAKI = [verdict("kiwaki-eq9"), verdict("kiwaki-theorem1", vs.CONTRADICTED, **FEW)]
WANG = verdict("wang-mh-table", vs.DEPENDS, ours="0.26", intervals=1)
TITLES = (
    "# Title\n\n(kiwaki-figure-4)=\n\n## Figure 4: {term}`ESS` <on> the way\n\n(other)=\n## Else"
)


@pytest.fixture
def folder(tmp_path):
    for _, _, file in SOURCES.values():
        write_notebook(tmp_path / "check" / f"{file}.ipynb")
    write_notebook(tmp_path / "check" / "kiwaki2015.ipynb", *KIWAKI, text=TITLES)
    write_notebook(tmp_path / "check" / "wang.ipynb", WANG)
    return tmp_path


def test_the_page_counts_links_and_lists_what_the_notebooks_found(folder):
    found = verdicts_of(folder)
    counts = check_page.counts(found)
    assert "Of 2 claims of three papers: <b>1</b> are reproduced, <b>0</b> depend on" in counts
    row = re.search(r"the three papers</th>(.*?)</tr>", counts)[1]
    assert re.findall(r"<td>(\d+)", row) == ["1", "0", "1", "0", "2"]
    report = re.search(r"report\)</th>(.*?)</tr>", counts)[1]
    assert re.findall(r"<td>(\d+)", report) == ["0", "1", "0", "0", "1"]
    places = check_page.places(folder)
    assert places.count("<li>") == 1
    link = '<a href="check/kiwaki2015.html#kiwaki-figure-4">Figure 4: ESS &lt;on&gt; the way</a>'
    assert link in places
    listed = check_page.listed(found)
    assert listed.count("<li id=") == len(claims())
    assert listed.count("no verdict here") == len(claims()) - 3
    assert 'href="check/wang.html#wang-mh-table"' in listed
    sure = check_page.how_sure(found)
    assert f"3 of {len(claims())} claims have a verdict in this run" in sure
    assert "they rest on 3 intervals" in sure
    assert "about 0.001 of the 1 intervals of level 99.9% and 0.1 of the 2 intervals" in sure


def test_every_name_that_a_claim_has_had_leads_to_its_card(folder):
    to = check_page.addresses(verdicts_of(folder))
    assert to["kiwaki-theorem1"] == "check/kiwaki2015.html#kiwaki-theorem1"
    for old in claim("kiwaki-theorem1").old.split():
        assert to[old] == to["kiwaki-theorem1"]
    assert "kiwaki-pilot-cost" not in to, "it has no card in this run"


def test_the_table_to_download_has_every_claim(folder):
    rows = list(csv.DictReader(io.StringIO(check_page.as_table(verdicts_of(folder)))))
    by = {row["name"]: row for row in rows}
    assert list(by) == list(claims())
    assert by["kiwaki-theorem1"]["verdict"] == vs.CONTRADICTED
    assert by["kiwaki-theorem1"]["interval_level"] == "0.95"
    assert (by["wang-mh-table"]["ours"], by["kiwaki-pilot-cost"]["verdict"]) == ("0.26", "")
    assert by["kiwaki-eq9"]["claim"] == claim("kiwaki-eq9").claim


def test_two_verdicts_of_one_claim_stop_the_page(folder):
    write_notebook(folder / "ais.ipynb", WANG)
    with pytest.raises(ValueError, match="wang-mh-table in ais, wang-mh-table in check/wang"):
        verdicts_of(folder)


def test_drafts_checkpoints_and_tools_are_no_notebooks_of_the_book(folder):
    for name in ("_tools/a", ".ipynb_checkpoints/b", "check/.ipynb_checkpoints/c", "d.partial"):
        path = folder / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(json.dumps({"cells": []}))
    assert [p.stem for p in notebooks(folder)] == ["carlson2016", "kiwaki2015", "li2016", "wang"]
