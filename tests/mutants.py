"""Plants random errors in the code, one at a time, and counts those that the tests notice.

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
import resource
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from mutant_lines import MOST_SECONDS, Coverage, record
from mutant_session import (
    CODE,
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

WRITE_MACHINE_CODE = ("_kernels/simd.py",)
LEFT_OUT = ("book/lab/plots.py", "book/lab/first_pictures.py", *WRITE_MACHINE_CODE)
SEED = 20261123
FOUND = ("nth", "statistical", "file", "text", "what", "caught", "by")
TABLE, EQUIVALENT = (ROOT / "tests" / f for f in ("random_mutants.csv", "equivalent_mutants.csv"))


def sources() -> list[Path]:
    files = sorted(file for folder in CODE for file in (ROOT / folder).rglob("*.py"))
    return [f for f in files if not any(name in str(f.relative_to(ROOT)) for name in LEFT_OUT)]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def drawn(n_random: int, n_statistical: int, seed: int) -> list[dict]:
    """Errors in an order of chance: first those of any kind, then those of statistics."""
    pools: dict[bool, dict[str, list[dict]]] = {False: defaultdict(list), True: defaultdict(list)}
    for file in sources():
        text = file.read_text(encoding="utf-8")
        name, before = str(file.relative_to(ROOT)), Counter()
        for m in found_in(text, kernels="_kernels/" in name):
            line = text.splitlines()[m["line"] - 1].strip()
            before[line, m["what"]] += 1
            key = digest(f"{name} {line} {m['what']} {before[line, m['what']]}")
            statistical = m["what"] in STATISTICAL
            pools[statistical]["" if statistical else group_of(m["what"])].append(
                m | {"file": name, "text": line, "key": key}
            )
    chosen = []
    for statistical, n in ((False, n_random), (True, n_statistical)):
        # each has its place by its own digits, so that a change elsewhere does not draw others
        for pool in pools[statistical].values():
            pool.sort(key=lambda m: digest(f"{seed} {m['key']}"))
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*pools[statistical].values()))
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


def run(mutants: list[dict], until: float, seconds: float, anew: bool) -> None:
    """Try what has not been tried by the tests that judge it now; what was noticed stays so.

    With ``anew`` all that survives, in processes that import rbmlib with the error in it.
    """
    if not (KEPT / "covered").exists():
        raise SystemExit("nothing is recorded yet: .venv/bin/python tests/mutants.py record")
    known, covered, results = tried(), Coverage(), KEPT / "results.jsonl"
    for stem in covered.stale:
        print("recorded before a change:", stem, flush=True)
    tests_of = {m["key"]: covered.chosen(m, seconds) for m in mutants}
    stamps = {key: None if anew else covered.stamp(tests) for key, tests in tests_of.items()}
    due = [m for m in mutants if not _is_judged(known.get(m["key"]), stamps[m["key"]])]

    def keep(mutant, found):
        row = {n: mutant[n] for n in ("key", "file", "line", "text", "what", "statistical", "nth")}
        row |= {"stamp": covered.stamp(tests_of[mutant["key"]])} | found
        with results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(*(row[n] for n in ("nth", "caught", "file", "line", "what", "text", "by", "seconds")),
              flush=True)  # fmt: skip

    if due:
        seconds = covered.seconds
        try_mutants(
            due, tree_with, lambda m: tests_of[m["key"]],
            lambda tests: sum(seconds[t] for t in tests), until, keep, anew,
        )  # fmt: skip


def _is_judged(row: dict | None, stamp: str | None) -> bool:
    return row is not None and (row["caught"] or row["stamp"] == stamp)


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
        key = digest(repr(row))
        if names and str(number) not in names and not any(n in row.what for n in names):
            continue
        if not done.get(key, {}).get("caught"):

            def work(answer, row=row):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                plant(row.file, lambda text: text.replace(row.old, row.new))
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


def equivalent() -> dict[tuple, str]:
    """Why nothing that anybody sees depends on it, by file, line and change."""
    with EQUIVALENT.open(encoding="utf-8", newline="") as file:
        return {(r["file"], r["text"], r["what"]): r["why"] for r in csv.DictReader(file)}


def judged(mutants: list[dict]) -> list[dict]:
    """Rows of the table, for what has been tried."""
    known, why = tried(), equivalent()
    rows = [known[m["key"]] | {"nth": m["nth"]} for m in mutants if m["key"] in known]
    for row in rows:
        if not row["caught"] and (reason := why.get((row["file"], row["text"], row["what"]))):
            row |= {"caught": "equivalent", "by": reason}
    return rows


def head(rows: list[dict], n_drawn: int, seed: int) -> list[str]:
    """Seed, day, library and counts, as the first lines of the table."""
    library = digest("".join(file.read_text(encoding="utf-8") for file in sources()))
    lines = [f"seed {seed}; {time.strftime('%Y-%m-%d')}; digest of the library {library}",
             f"{len(rows)} of {n_drawn} errors that were drawn have been tried"]  # fmt: skip
    kinds = (("all", (False, True)), ("of any kind", (False,)), ("of statistics", (True,)))
    for kind, those in kinds:
        counts = Counter(str(r["caught"]) for r in rows if r["statistical"] in those)
        n = counts["True"] + counts["False"]
        lines.append(f"{kind}: {counts['True']} of {n} noticed ({counts['True'] / max(n, 1):.0%}), "
                     f"and {counts['equivalent']} that change nothing")  # fmt: skip
    return lines


def report(mutants: list[dict], seed: int) -> None:
    """Write the table; print its head and what survived."""
    rows = judged(mutants)
    lines = head(rows, len(mutants), seed)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"# {line}\n" for line in lines)
        table = csv.DictWriter(file, FOUND, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(*lines, sep="\n")
    for row in rows:
        if row["caught"] is False:
            print(f"  {row['nth']} {row['file']}:{row['line']} {row['what']}: "
                  f"{row['text']} ({row['tests']} tests)")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    works = ("all", "planted", "record", "run", "report", "show", "one")
    parser.add_argument("work", choices=works)
    parser.add_argument("names", nargs="*", help="test files to record, or numbers of errors")
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--statistical", type=int, default=30)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="of tests an error")
    parser.add_argument("--anew", action="store_true", help="survivors in processes of their own")
    parser.add_argument("--quick", action="store_true", help="record no statistical tests")
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
        some = [m for m in mutants if str(m["nth"]) in given.names] if given.names else mutants
        run(some, until, given.seconds, given.anew)
    if given.work in ("all", "run", "report"):
        report(mutants, given.seed)
    if given.work == "show":
        mutant = mutants[int(given.names[0])]
        text = (ROOT / mutant["file"]).read_text(encoding="utf-8")
        before, after = ast.unparse(ast.parse(text)), ast.unparse(tree_with(mutant))
        pairs = zip(before.splitlines(), after.splitlines(), strict=False)
        print(mutant["file"], mutant["line"], *(f"\n- {a}\n+ {b}" for a, b in pairs if a != b))
    return 0


if __name__ == "__main__":
    sys.exit(main())
