"""The table and the patches of planted errors stay true of the code: texts and tests are there."""

import ast
import csv
import subprocess

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


def test_patches_of_errors_still_apply_and_name_tests_that_are_there(repository):
    """Unless code moved: then the patch is made anew, for where it went."""
    folder = repository / "tests" / "planted"
    with (folder / "score.csv").open(encoding="utf-8") as file:
        score = list(csv.DictReader(file))
    assert [row["number"] for row in score] == sorted(p.stem for p in folder.glob("*.patch"))
    for row in score:
        patch = folder / f"{row['number']}.patch"
        apply = ["git", "apply", "--check", patch]
        tried = subprocess.run(apply, cwd=repository, capture_output=True, text=True, check=False)
        assert tried.returncode == 0, f"{patch.name}: {row['error']}: {tried.stderr}"
        what, tests, _ = patch.read_text(encoding="utf-8").split("\n", 2)
        assert what == row["error"]
        file, _, name = row["test"].partition("::")
        assert f"def {name}(" in (repository / "tests" / file).read_text(encoding="utf-8"), row
        for file in tests.removeprefix("tests: ").split():
            assert (repository / "tests" / file).is_file(), file
