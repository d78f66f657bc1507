"""Plant each error of this folder in a copy of the code, and see whether tests notice it.

    .venv/bin/python tests/planted/plant.py [--first] [NUMBER ...]

Errors are the parts of `errors.patch`, each under its number and what it is, whose tests are in
`score.csv`, and the rows of `texts.csv`, numbered from t01: a text of a file, what takes its place,
and the test. With ``--first`` the files of tests that a patch names run in place of its test. Ends
with 1 if an error was not noticed.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COPIED = ("rbmlib", "book/lab", "tests")
BUILT = ROOT / "_build" / "planted"  # always the same place: compiled loops are found again


class Planted(NamedTuple):
    what: str
    test: str
    patch: str = ""
    file: str = ""
    old: str = ""
    new: str = ""

    def first(self) -> list[str]:
        """The files of tests that were held to notice it before it had a test."""
        line = self.patch.partition("\n")[0]
        return line.removeprefix("tests: ").split() or [self.test.partition("::")[0]]

    def changed(self, text: str) -> str:
        assert text.count(self.old) == 1, f"{self.what}: {text.count(self.old)} in {self.file}"
        return text.replace(self.old, self.new)

    def plant(self, tree: Path) -> None:
        if not self.patch:
            file = tree / self.file
            file.write_text(self.changed(file.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            apply(self.patch, tree)


def apply(patch: str, tree: Path, *options: str) -> None:
    apart = os.environ | {"GIT_CEILING_DIRECTORIES": str(tree.parent)}  # of no repository
    command = ["git", "apply", *options, "-"]
    subprocess.run(command, cwd=tree, env=apart, input=patch, text=True, check=True)


def rows(name: str) -> list[dict]:
    with (HERE / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def planted() -> dict[str, Planted]:
    """By number."""
    tests = {row["number"]: row["test"] for row in rows("score.csv")}
    text = (HERE / "errors.patch").read_text(encoding="utf-8")
    parts = re.findall(r"(?ms)^# (\d+) (.*?)\n(.*?)(?=^# \d|\Z)", text)
    found = {number: Planted(what, tests.pop(number), patch) for number, what, patch in parts}
    assert not tests, f"score.csv has {tests}, errors.patch has not"
    for number, row in enumerate(rows("texts.csv"), start=1):
        old, new = (row[name].replace("\\n", "\n") for name in ("old", "new"))
        found[f"t{number:02d}"] = Planted(row["error"], row["test"], "", row["file"], old, new)
    return found


def copy_of_code(tree: Path) -> None:
    """The code and its tests; links to all else."""
    shutil.rmtree(tree, ignore_errors=True)
    (tree / "book").mkdir(parents=True)
    for source in (*ROOT.iterdir(), *(ROOT / "book").iterdir()):
        name = source.relative_to(ROOT)
        if str(name) in COPIED:  # with their times, by which compiled code is known
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif name.name not in (".git", ".venv", "_build", "book"):
            (tree / name).symlink_to(source)
    (tree / ".import").mkdir()
    (tree / ".import" / "rbmbook").symlink_to(tree / "book" / "lab")


def is_noticed(error: Planted, tests: list[str]) -> tuple[bool, str]:
    """Whether one of the tests fails in a copy with the error, and the last line of pytest."""
    tree = BUILT / "tree"
    copy_of_code(tree)
    error.plant(tree)
    paths = {"PYTHONPATH": f"{tree}:{tree / '.import'}", "NUMBA_CACHE_DIR": str(BUILT / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0",
         "-m", "not processes and not chapters and not pages", *(f"tests/{t}" for t in tests)],
        cwd=tree, env=os.environ | paths, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(f"{error.what}: no tests were run\n{done.stdout[-2000:]}{done.stderr}")
    said = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode == 1, (said or done.stdout.splitlines())[-1].partition(" - ")[0]


def main(arguments: list[str]) -> int:
    errors = planted()
    chosen = [a for a in arguments if a != "--first"] or [*errors]
    missed = 0
    for number in chosen:
        error = errors[number]
        noticed, said = is_noticed(error, error.first() if "--first" in arguments else [error.test])
        missed += not noticed
        print(
            number, "noticed" if noticed else "NOT NOTICED", error.what, said, sep="  ", flush=True
        )
    print(f"{len(chosen) - missed} of {len(chosen)} planted errors were noticed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
