"""Plants random errors in rbmlib, one at a time, and counts those that the tests notice.

    make mutants                      record what tests run, draw, try and report
    .venv/bin/python tests/mutants.py planted | record | run | report | show NUMBER

An error changes one node of the syntax tree in memory; no file is touched. It is judged by the
tests that ran its line when they were last recorded, the quick ones first, until one fails
(`mutant_session.py`). What was tried is kept in ``_build/mutants`` and not tried again, so that a
run can be stopped at any time. Not drawn from: compiled functions of the kernels, whose cache
would hide a change made in memory; figures; texts of messages; annotations.
"""

from __future__ import annotations

import argparse
import ast
import csv
import hashlib
import itertools
import json
import os
import random
import resource
import sys
import time
from pathlib import Path

from mutant_lines import Coverage, record
from mutant_session import (
    CPU_SECONDS,
    KEPT,
    ROOT,
    in_fork,
    plant,
    pytest_on,
    quiet_threads,
    try_mutants,
)  # fmt: skip
from mutations import STATISTICAL, found_in, group_of
from planted import PLANTED

WRITE_MACHINE_CODE = ("_kernels/simd.py", "_kernels/memory.py")
LEFT_OUT = ("book/plots.py", "book/first_pictures.py", "_progress.py", *WRITE_MACHINE_CODE)
SEED = 20261123
FOUND = ("nth", "statistical", "file", "text", "what", "caught", "by")


def sources() -> list[Path]:
    files = sorted((ROOT / "rbmlib").rglob("*.py"))
    return [f for f in files if not any(name in str(f.relative_to(ROOT)) for name in LEFT_OUT)]


def drawn(n_random: int, n_statistical: int, seed: int) -> list[dict]:
    """Errors in an order of chance: first those of any kind, then those of statistics."""
    every: dict[bool, list[dict]] = {False: [], True: []}
    for file in sources():
        text = file.read_text(encoding="utf-8")
        name = str(file.relative_to(ROOT))
        for m in found_in(text, kernels="_kernels/" in name):
            line = text.splitlines()[m["line"] - 1].strip()
            key = hashlib.sha256(f"{name} {line} {m['number']} {m['what']}".encode()).hexdigest()
            every[m["what"] in STATISTICAL].append(m | {"file": name, "text": line,
                                                        "key": key[:16]})  # fmt: skip
    source, chosen = random.Random(seed), []
    for statistical, n in ((False, n_random), (True, n_statistical)):
        pools: dict[str, list[dict]] = {}
        for m in every[statistical]:
            pools.setdefault("" if statistical else group_of(m["what"]), []).append(m)
        for pool in pools.values():
            source.shuffle(pool)
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*pools.values()))
        some = [m for m in in_turn if m is not None][:n]
        chosen += [m | {"statistical": statistical} for m in some]
    return [m | {"nth": i} for i, m in enumerate(chosen)]


# trying -----------------------------------------------------------------------------------------


def tree_with(mutant: dict) -> ast.AST:
    """The syntax tree of the module with the error in it."""
    tree = ast.parse((ROOT / mutant["file"]).read_text(encoding="utf-8"))
    for found in found_in(tree, change=mutant["number"], kernels="_kernels/" in mutant["file"]):
        if found["number"] == mutant["number"]:
            return ast.fix_missing_locations(found["tree"])
    raise LookupError(f"{mutant['file']} has no mutation {mutant['number']}")


def run(mutants: list[dict], until: float, again: bool) -> None:
    known, results = tried(), KEPT / "results.jsonl"
    due = [
        m for m in mutants
        if m["key"] not in known or (again and not known[m["key"]]["caught"])
    ]  # fmt: skip

    def keep(mutant, found):
        row = {n: mutant[n] for n in ("key", "file", "line", "text", "what", "statistical", "nth")}
        with results.open("a") as file:
            file.write(json.dumps(row | found) + "\n")
        print(mutant["nth"], "caught" if found["caught"] else "SURVIVED", mutant["file"],
              mutant["line"], mutant["what"], "|", mutant["text"], "|", found["by"],
              found["seconds"], flush=True)  # fmt: skip

    if due:
        covered = Coverage()
        if covered.stale:
            print("recorded before a change:", *covered.stale, flush=True)
        try_mutants(due, tree_with, covered.chosen, until, keep)


def run_one() -> int:
    """Tests of one error in a process of its own (from standard input)."""
    given = json.loads(sys.stdin.read())
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    tree = tree_with(given["mutant"])
    plant(given["mutant"]["file"], lambda text: tree)
    return pytest_on(["-x", "--doctest-modules", *given["tests"]])


def preload() -> None:
    """What every fork needs, imported once; rbmlib itself each imports afresh."""
    import hypothesis  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import scipy.integrate
    import scipy.optimize
    import scipy.special
    import scipy.stats  # noqa: F401
    import yaml  # noqa: F401


def run_planted(names: list[str]) -> None:
    """Every error of the table, with the test that it names; kept in ``planted.jsonl``."""
    preload()
    results = KEPT / "planted.jsonl"
    done = {}
    if results.exists() and not names:
        done = {r["key"]: r for r in map(json.loads, results.read_text().splitlines())}
    missed = []
    for number, row in enumerate(PLANTED):
        key = hashlib.sha256(repr(row).encode()).hexdigest()[:16]
        if names and str(number) not in names and not any(n in row.what for n in names):
            continue
        if not done.get(key, {}).get("caught"):

            def work(answer, row=row):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                plant(f"rbmlib/{row.file}", lambda text: text.replace(row.old, row.new))
                answer({"status": pytest_on(["-x", f"tests/{row.test}"])})

            status = in_fork(work, CPU_SECONDS, 1200).get("status")
            done[key] = {"key": key, "what": row.what, "caught": status == 1, "status": status}
            with results.open("a") as file:
                file.write(json.dumps(done[key]) + "\n")
        print(number, "caught" if done[key]["caught"] else "SURVIVED", row.what, flush=True)
        missed += [row.what] * (not done[key]["caught"])
    print(f"planted errors: {len(missed)} not noticed")


def tried() -> dict[str, dict]:
    """The last result of each error."""
    results = KEPT / "results.jsonl"
    rows = map(json.loads, results.read_text().splitlines()) if results.exists() else ()
    return {row["key"]: row for row in rows}


def report(mutants: list[dict]) -> None:
    known = tried()
    rows = [known[m["key"]] for m in mutants if m["key"] in known]
    if len(rows) == len(mutants):
        with (ROOT / "tests" / "random_mutants.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, FOUND, extrasaction="ignore", lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    for statistical in (False, True):
        rows = [known[m["key"]] for m in mutants
                if m["statistical"] == statistical and m["key"] in known]  # fmt: skip
        caught = sum(row["caught"] for row in rows)
        kind = "of statistics" if statistical else "of any kind"
        print(f"errors {kind}: {caught} of {len(rows)} noticed")
        for row in rows:
            if not row["caught"]:
                print(f"  {row['nth']} {row['file']}:{row['line']} {row['what']}: "
                      f"{row['text']} ({row['tests']} tests)")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    works = ("all", "planted", "record", "run", "report", "show", "one")
    parser.add_argument("work", choices=works)
    parser.add_argument("names", nargs="*", help="test files to record, or an error's number")
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--statistical", type=int, default=30)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--quick", action="store_true", help="record no statistical tests")
    parser.add_argument("--again", action="store_true", help="try once more what was not noticed")
    given = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    until = time.time() + 60 * given.minutes
    quiet_threads()
    if given.work == "one":
        return run_one()
    mutants = drawn(given.random, given.statistical, given.seed)
    if given.work in ("all", "planted"):
        run_planted(given.names)
    if given.work in ("all", "record"):
        record(until, given.names, given.quick)
    if given.work in ("all", "run"):
        run(mutants, until, given.again)
    if given.work in ("all", "run", "report"):
        report(mutants)
    if given.work == "show":
        mutant = mutants[int(given.names[0])]
        text = (ROOT / mutant["file"]).read_text(encoding="utf-8")
        before, after = ast.unparse(ast.parse(text)), ast.unparse(tree_with(mutant))
        pairs = zip(before.splitlines(), after.splitlines(), strict=False)
        print(mutant["file"], mutant["line"], *(f"\n- {a}\n+ {b}" for a, b in pairs if a != b))
    return 0


if __name__ == "__main__":
    sys.exit(main())
