"""The table of planted errors stays true of the code: its texts and its tests are there."""

import ast

from planted import PLANTED

import rbmbook
import rbmlib


def test_planted_errors_can_still_be_planted(repository):
    for package, folder in ((rbmlib, "rbmlib"), (rbmbook, "book/lab")):
        assert package.__file__ == str(repository / folder / "__init__.py")
    for row in PLANTED:
        text = (repository / row.file).read_text(encoding="utf-8")
        assert text.count(row.old) == 1, f"{row.what}: {text.count(row.old)} times in {row.file}"
        ast.parse(text.replace(row.old, row.new))
        file, _, name = row.test.partition("::")
        assert f"def {name}(" in (repository / "tests" / file).read_text(encoding="utf-8"), row
    assert len({row.what for row in PLANTED}) == len(PLANTED)
