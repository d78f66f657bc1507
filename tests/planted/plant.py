"""Plant each error of this folder in a copy of the code, and see whether tests notice it.

    .venv/bin/python tests/planted/plant.py [--first] [NUMBER ...]

Runs the test that `score.csv` names; where it names none, and with ``--first``, the files that the
patch names. Ends with 1 if an error was not noticed.
"""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COPIED = ("rbmlib", "book/lab", "tests")
BUILT = ROOT / "_build" / "planted"  # always the same place: compiled loops are found again


def patches() -> dict[str, Path]:
    """By number."""
    return {file.stem: file for file in sorted(HERE.glob("[0-9]*.patch"))}


def words_and_files(patch: Path) -> tuple[str, list[str]]:
    """What the error is, and the files of tests that ought to notice it."""
    what, tests, _ = patch.read_text(encoding="utf-8").split("\n", 2)
    return what, tests.removeprefix("tests: ").split()


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


def is_noticed(patch: Path, tests: list[str]) -> tuple[bool, str]:
    """Whether one of the tests fails in a copy with the error, and the last line of pytest."""
    tree = BUILT / "tree"
    copy_of_code(tree)
    apart = os.environ | {"GIT_CEILING_DIRECTORIES": str(BUILT)}  # of no repository
    subprocess.run(["git", "apply", patch], cwd=tree, env=apart, check=True)
    paths = {"PYTHONPATH": f"{tree}:{tree / '.import'}", "NUMBA_CACHE_DIR": str(BUILT / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0",
         "-m", "not processes and not chapters and not pages", *(f"tests/{t}" for t in tests)],
        cwd=tree, env=os.environ | paths, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(f"{patch.name}: no tests were run\n{done.stdout[-2000:]}{done.stderr}")
    said = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return done.returncode == 1, (said or done.stdout.splitlines())[-1].partition(" - ")[0]


def main(arguments: list[str]) -> int:
    with (HERE / "score.csv").open(encoding="utf-8") as file:
        named = {row["number"]: row["test"] for row in csv.DictReader(file)}
    chosen = [a for a in arguments if a != "--first"] or [*patches()]
    missed = 0
    for number in chosen:
        what, files = words_and_files(patches()[number])
        test = "" if "--first" in arguments else named.get(number, "")
        noticed, said = is_noticed(patches()[number], [test] if test else files)
        missed += not noticed
        print(number, "noticed" if noticed else "NOT NOTICED", what, said, sep="  ", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} planted errors were noticed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
