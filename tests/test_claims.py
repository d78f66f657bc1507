"""The list of claims, the verdicts that the notebooks hold, and the page that is made of them."""

import csv
import json
import re
from collections import Counter

import nbformat
import pytest

from rbmbook import verdicts as vs
from rbmbook.claims import claims, printed_number
from rbmlib import datasets


def published(table: str) -> list[dict[str, str]]:
    with datasets.committed(f"published/{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def printed(source: str, place: str) -> Counter:
    rows = [c for c in claims().values() if c.source == source and c.place.startswith(place)]
    return Counter(float(c.printed) for c in rows if re.fullmatch(r"[-+.\de]+", c.printed))


def numbers(table: str, *columns: str) -> Counter:
    return Counter(float(row[c]) for row in published(table) for c in columns if row[c])


def test_every_number_of_every_published_table_is_claimed():
    exact = {(r["model"], float(r["logz_exact"])) for r in published("varopt_table1")}
    table_1 = numbers("varopt_table1", "logz_hat", "ess") + Counter(z for _, z in exact)
    assert table_1 == printed("Kiwaki", "table 1")
    assert numbers("varopt_table2", "logz_hat", "ess") == printed("Kiwaki", "table 2")
    assert numbers("leaky_table1", "logz_exact") == printed("Li", "table 1")
    assert numbers("leaky_table2", "bias", "std") == printed("Li", "table 2")
    assert numbers("leaky_table3", "log_likelihood") == printed("Li", "table 3")
    tables = [printed("Wang", f"section IV.{letter}, table") for letter in "BCDE"]
    assert numbers("report_methods", "logz", "variance") == sum(tables, Counter())
    seconds = numbers("report_ais_seconds", "seconds")
    assert seconds == Counter(printed_number(f"wang-seconds-h{m}")[0] for m in (10, 20, 100, 500))
    rows = published("report_mh_correlation")
    tenth = Counter(round(float(r["mean_correlation_as_printed"]) / 10, 4) for r in rows)
    variances = numbers("report_mh_correlation", "variance")
    assert tenth + variances == printed("Wang", "section IV.A, table")


def test_each_claim_is_whole():
    for claim in claims().values():
        assert all(field.strip() == field for field in claim), claim
        assert all(claim[:6]), claim
        assert claim.name.startswith(f"{claim.source.lower()}-")
        assert re.fullmatch(r"[a-zA-Z0-9.-]+", claim.name), "it is an anchor of the page"
    assert len({c.claim for c in claims().values()}) == len(claims()), (
        "two claims of the same words"
    )


def test_claims_are_judged_in_chapters_of_the_book(repository):
    chapters = {path.stem for path in (repository / "book").glob("*.ipynb")}
    assert {c.chapter for c in claims().values()} <= chapters


def stored_verdicts(repository) -> list[tuple[str, vs.Verdict]]:
    """Chapter and verdict, of every committed notebook."""
    found = []
    for path in sorted((repository / "book").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        found += [
            (path.stem, vs.from_json(fields))
            for output in outputs
            for fields in output.get("data", {}).get(vs.MIME, [])
        ]
    return found


def test_stored_verdicts_are_of_listed_claims_once_each_in_their_chapter(repository):
    found = stored_verdicts(repository)
    names = Counter(verdict.name for _, verdict in found)
    assert not [name for name, n in names.items() if n > 1]
    for chapter, verdict in found:
        claim = claims()[verdict.name]
        assert chapter.removesuffix("_audit") == claim.chapter, verdict.name
        assert (verdict.claim, verdict.paper, verdict.place) == (
            claim.claim, claim.printed, claim.place,
        ), f"{verdict.name}: run `make notebooks NAME={chapter}`"  # fmt: skip
        assert verdict.outcome in vs.OUTCOMES


def test_every_claim_has_a_verdict(repository):
    judged = {verdict.name for _, verdict in stored_verdicts(repository)}
    assert set(claims()) - judged == set()


# ---------------------------------------------------------------- the page of all verdicts


@pytest.fixture
def notes_page(repository, monkeypatch):
    """What `make book` puts into the page of what reproduced."""
    monkeypatch.syspath_prepend(repository / "book" / "_ext")
    import notes_page

    assert notes_page.MARK in (repository / "book" / "reproduction_notes.md").read_text()
    return notes_page


def verdict(name: str, outcome: str = vs.REPRODUCED, intervals: int = 1) -> vs.Verdict:
    row = claims()[name]
    words = (row.source, row.place, row.claim, row.printed, "ours")
    return vs.Verdict(name, *words, 0.5, 0.4, 0.6, "nats", outcome, "a note", intervals)


def write_notebook(path, *verdicts):
    fields = [vs.as_json(v) for v in verdicts]
    data = {"text/html": vs.verdict_table(verdicts), vs.MIME: fields}
    cell = nbformat.v4.new_code_cell("show_verdicts(found)", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("display_data", data)]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title"), cell])
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def test_the_page_holds_what_the_notebooks_found(notes_page, tmp_path):
    write_notebook(tmp_path / "ais.ipynb", verdict("wang-ais-h20-logz", vs.CONTRADICTED, 2))
    write_notebook(tmp_path / "rts_audit.ipynb", verdict("carlson-f4-flat"), verdict("wang-rts-f5"))
    text = notes_page.page(tmp_path)
    sections = re.findall(r'(?s)<section class="v-source" data-source="(\w+)".*?</section>', text)
    assert sections == ["Kiwaki", "Carlson", "Li", "Wang"]
    kiwaki, carlson, li, wang = re.findall(r'(?s)<section class="v-source".*?</section>', text)
    assert 'href="ais.html#wang-ais-h20-logz"' in wang
    assert "✘ contradicted" in wang
    assert "218.23" in wang
    assert 'href="rts_audit.html#carlson-f4-flat"' in carlson
    assert "the code and the runs" not in kiwaki + li
    assert f"3 of {len(claims())} claims" in text
    assert "4 intervals" in text
    assert "about 0.004 false ones" in text
    assert "✘ contradicted <b>1</b>" in text
    missing = text.split("## Claims without")[1]
    assert "`kiwaki-eq9`" in missing
    assert "wang-rts-f5" not in missing


def test_two_verdicts_of_one_claim_stop_the_page(notes_page, tmp_path):
    for stem in ("ais", "rts"):
        write_notebook(tmp_path / f"{stem}.ipynb", verdict("wang-ais-h20-logz"))
    with pytest.raises(ValueError, match="wang-ais-h20-logz in ais, wang-ais-h20-logz in rts"):
        notes_page.page(tmp_path)


def test_an_unlisted_claim_is_refused():
    from rbmbook.claims import claim

    with pytest.raises(ValueError, match=r"name is 'wang-ais-h2-logz'.*wang-ais-h20-logz"):
        claim("wang-ais-h2-logz")


@pytest.mark.parametrize(
    ("text", "value", "rounding"),
    [("10.00", 10, 0.005), ("1.04e-4", 1.04e-4, 5e-7), ("87", 87, 0.5), ("-182.4", -182.4, 0.05)],
)
def test_rounding_of_a_printed_number(text, value, rounding, monkeypatch):
    row = next(iter(claims().values()))._replace(name="x", printed=text)
    monkeypatch.setattr("rbmbook.claims.claims", lambda: {"x": row})
    assert printed_number("x") == (value, pytest.approx(rounding))
