"""The page of the bench: rows and cells by hand values."""

import pytest

from rbmbook import benched
from rbmlib.bench import Score

FOUND = {
    "one": {
        "a": Score(8, 8, 6, 1, 5, 1.5, 0.02),
        "b": Score(8, 8, 0, 0, 0, 0.0, 0.0),
        "all": Score(16, 16, 6, 1, 5, 1.5, 0.02),
    }
}


def test_a_program_in_a_row(monkeypatch):
    monkeypatch.setattr(benched, "seconds", lambda _: 12.4)
    row = benched.row("one", FOUND["one"])
    assert (row["trusted"], row["of these wrong"]) == (6, 1)
    assert row["95% of that share"] == "0.4% to 64.1%"  # Clopper and Pearson of 1 in 6
    assert (row["within 1.96 s.e."], row["seconds"]) == ("83%", 12)


def test_families_in_rows():
    table = benched.by_family(FOUND)
    assert table.to_dict("list") == {"family": ["a", "b"], "one": ["1 of 6", "0 of 0"]}


def test_the_picture_stacks_wrong_on_right():
    (ax,) = benched.picture(FOUND)
    heights = [patch.get_height() for patch in ax.patches]
    assert heights == pytest.approx([5 / 8, 0, 1 / 8, 0])


def test_contents_name_every_family():
    contents = benched.contents()
    assert len(contents) == 25
    assert contents.set_index("family").loc["potts", "log Z by"] == "sum over counts"
