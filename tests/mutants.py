"""Plants random errors in rbmlib, one at a time, and counts those that the tests notice.

    make mutants                      record what tests run, draw, try and report
    .venv/bin/python tests/mutants.py planted | record | run | report | show NUMBER

An error changes one node of the syntax tree in memory; no file is touched. It is judged by the
tests that ran its line when they were last recorded, the quick ones first, until one fails. What
was tried is kept in ``_build/mutants`` and not tried again while the line and the tests' count
stay, so that a run can be stopped at any time. Not drawn from: the compiled kernels, whose cache
would hide a change made in memory; figures; texts of messages; annotations.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.machinery
import itertools
import json
import os
import random
import resource
import signal
import sys
import time
import xml.etree.ElementTree as ElementTree
from functools import partial
from pathlib import Path

from mutations import STATISTICAL, found_in, group_of
from planted import PLANTED

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "_build" / "mutants"
LEFT_OUT = ("_kernels/", "book/plots.py", "book/first_pictures.py", "_progress.py")
SEED = 20261123
MARKED = "not chapters and not pages and not processes"
MOST_SECONDS = 40.0  # of tests for one error, as recorded
CPU_SECONDS = 240  # beyond, an error counts as noticed: the test would not end
QUIET = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:nbval", "--no-header"]


def sources() -> list[Path]:
    files = sorted((ROOT / "rbmlib").rglob("*.py"))
    return [f for f in files if not any(name in str(f.relative_to(ROOT)) for name in LEFT_OUT)]


def drawn(n_random: int, n_statistical: int, seed: int) -> list[dict]:
    """Errors in an order of chance: first those of any kind, then those of statistics."""
    every: dict[bool, list[dict]] = {False: [], True: []}
    for file in sources():
        text = file.read_text(encoding="utf-8")
        for m in found_in(text):
            name = str(file.relative_to(ROOT))
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
    return chosen


# children ---------------------------------------------------------------------------------------


def preload() -> None:
    """What every child needs, imported once; rbmlib itself each child imports afresh."""
    os.environ.update(RBMLIB_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    import hypothesis  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import pytest  # noqa: F401
    import scipy.integrate
    import scipy.optimize
    import scipy.special
    import scipy.stats  # noqa: F401
    import yaml  # noqa: F401


def in_child(work, log: Path, cpu_seconds: int, wall_seconds: float) -> int:
    """Exit status of ``work()`` in a forked process with bounded seconds; -1: it did not end."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
        status = 99
        try:
            status = int(work())
        finally:
            sys.stdout.flush()
            os._exit(status)
    end = time.monotonic() + wall_seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else -1
        time.sleep(0.05)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -1


def plant(file: str, tree_of) -> None:
    """From now on the module is compiled from ``tree_of(its text)``, whatever is cached."""
    path = str(ROOT / file)
    before = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        if self.path != path:
            return before(self, name)
        return compile(tree_of(Path(path).read_text(encoding="utf-8")), path, "exec")

    importlib.machinery.SourceFileLoader.get_code = get_code


def changed_tree(text: str, mutant: dict):
    tree = ast.parse(text)
    for found in found_in(tree, change=mutant["number"]):
        if found["number"] == mutant["number"]:
            return ast.fix_missing_locations(found["tree"])
    raise LookupError(f"{mutant['file']} has no mutation {mutant['number']}")


def pytest_on(arguments: list[str]) -> int:
    import pytest

    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    return int(pytest.main([*QUIET, *arguments]))


# recording --------------------------------------------------------------------------------------


def record(files: list[str]) -> None:
    """Which lines of rbmlib each test runs, and its seconds, file by file of the tests."""
    (KEPT / "covered").mkdir(parents=True, exist_ok=True)
    for file in files or [f.name for f in sorted((ROOT / "tests").glob("test_*.py"))]:
        stem, path = Path(file).stem, ROOT / "tests" / Path(file).name
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        target = KEPT / "covered" / f"{stem}.json"
        if target.exists() and json.loads(target.read_text())["digest"] == digest:
            continue
        began = time.time()
        status = in_child(
            lambda path=path, stem=stem: _recorded(path, stem), KEPT / f"{stem}.log", 900, 1800
        )
        covered = KEPT / f"{stem}.part.json"
        if status in (0, 1, 5) and covered.exists():
            target.write_text(json.dumps(json.loads(covered.read_text()) | {"digest": digest}))
            covered.unlink()
        print(f"{stem}: status {status}, {time.time() - began:.0f} s", flush=True)


def _recorded(path: Path, stem: str) -> int:
    import coverage

    rules = KEPT / "coveragerc"
    rules.write_text("[run]\ndynamic_context = test_function\n")
    cover = coverage.Coverage(
        data_file=None, source=[str(ROOT / "rbmlib")], config_file=str(rules), messages=False
    )
    junit = KEPT / f"{stem}.xml"
    cover.start()
    status = pytest_on([str(path), "-m", MARKED, f"--junitxml={junit}"])
    cover.stop()
    data, lines = cover.get_data(), {}
    for file in data.measured_files():
        name = str(Path(file).relative_to(ROOT))
        for line, contexts in data.contexts_by_lineno(file).items():
            for context in contexts:
                test = context.rpartition(".")[2]
                lines.setdefault(name, {}).setdefault(str(line), set()).add(test)
    seconds, failed = {}, set()
    for case in ElementTree.parse(junit).iter("testcase"):
        test = case.get("name", "").partition("[")[0]
        seconds[test] = seconds.get(test, 0.0) + float(case.get("time", 0))
        if len(case) and case[0].tag in ("failure", "error"):
            failed.add(test)
    content = {
        "file": f"tests/{path.name}",
        "seconds": seconds,
        "failed": sorted(failed),
        "lines": {f: {n: sorted(t) for n, t in by.items()} for f, by in lines.items()},
    }
    (KEPT / f"{stem}.part.json").write_text(json.dumps(content))
    return status


class Coverage:
    """What `record` kept: the tests of a line, the quick ones first."""

    def __init__(self):
        self.files = [json.loads(f.read_text()) for f in (KEPT / "covered").glob("*.json")]

    def chosen(self, mutant: dict) -> list[str]:
        wanted = {str(n) for n in range(mutant["line"], mutant["end"] + 1)}
        found, module = {}, {}
        for kept in self.files:
            for line, names in kept["lines"].get(mutant["file"], {}).items():
                for name in set(names) & set(kept["seconds"]) - set(kept["failed"]):
                    test, seconds = f"{kept['file']}::{name}", kept["seconds"][name]
                    module[test] = seconds
                    if line in wanted:
                        found[test] = seconds
        # a line that runs at import belongs to every test of the module
        ordered = sorted((found or module).items(), key=lambda pair: pair[1])
        total, chosen = 0.0, []
        for test, seconds in ordered:
            total += seconds
            if chosen and total > MOST_SECONDS:
                break
            chosen.append(test)
        return chosen


# trying -----------------------------------------------------------------------------------------


def run(mutants: list[dict], until: float, again: bool) -> None:
    covered, results = Coverage(), KEPT / "results.jsonl"
    known = tried()
    for number, mutant in enumerate(mutants):
        if time.time() > until:
            break
        before = known.get(mutant["key"])
        if before and (before["caught"] or not again):
            continue
        chosen, began = covered.chosen(mutant), time.time()
        log = KEPT / "log" / f"{mutant['key']}.log"
        log.parent.mkdir(exist_ok=True)

        def work(mutant=mutant, chosen=chosen):
            plant(mutant["file"], partial(changed_tree, mutant=mutant))
            return pytest_on(["-x", *chosen])

        status = in_child(work, log, CPU_SECONDS, 1200) if chosen else 0
        row = {
            name: mutant[name] for name in ("key", "file", "line", "text", "what", "statistical")
        } | {"number": number, "caught": status not in (0, 5), "status": status,
             "tests": len(chosen), "seconds": round(time.time() - began, 1)}  # fmt: skip
        with results.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(number, "caught" if row["caught"] else "SURVIVED", mutant["file"], mutant["line"],
              mutant["what"], "|", mutant["text"], flush=True)  # fmt: skip


def run_planted(names: list[str]) -> None:
    """Every error of the table, with the test that it names; kept in ``planted.jsonl``."""
    results = KEPT / "planted.jsonl"
    done = {}
    if results.exists() and not names:
        done = {r["key"]: r for r in map(json.loads, results.read_text().splitlines())}
    (KEPT / "log").mkdir(exist_ok=True)
    missed = []
    for number, row in enumerate(PLANTED):
        key = hashlib.sha256(repr(row).encode()).hexdigest()[:16]
        if names and str(number) not in names and not any(n in row.what for n in names):
            continue
        if not done.get(key, {}).get("caught"):

            def work(row=row):
                plant(f"rbmlib/{row.file}", lambda text: text.replace(row.old, row.new))
                return pytest_on(["-x", f"tests/{row.test}"])

            status = in_child(work, KEPT / "log" / f"planted_{number}.log", CPU_SECONDS, 1200)
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
    for statistical in (False, True):
        rows = [known[m["key"]] for m in mutants
                if m["statistical"] == statistical and m["key"] in known]  # fmt: skip
        caught = sum(row["caught"] for row in rows)
        kind = "of statistics" if statistical else "of any kind"
        print(f"errors {kind}: {caught} of {len(rows)} noticed")
        for row in rows:
            if not row["caught"]:
                print(f"  {row['number']} {row['file']}:{row['line']} {row['what']}: "
                      f"{row['text']} ({row['tests']} tests)")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=("all", "planted", "record", "run", "report", "show"))
    parser.add_argument("names", nargs="*", help="test files to record, or an error's number")
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--statistical", type=int, default=30)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--again", action="store_true", help="try once more what was not noticed")
    given = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    mutants = drawn(given.random, given.statistical, given.seed)
    if given.work in ("all", "planted", "record", "run"):
        preload()
    if given.work in ("all", "planted"):
        run_planted(given.names)
    if given.work in ("all", "record"):
        record(given.names)
    if given.work in ("all", "run"):
        run(mutants, time.time() + 60 * given.minutes, given.again)
    if given.work in ("all", "run", "report"):
        report(mutants)
    if given.work == "show":
        mutant = mutants[int(given.names[0])]
        text = (ROOT / mutant["file"]).read_text(encoding="utf-8")
        before, after = ast.unparse(ast.parse(text)), ast.unparse(changed_tree(text, mutant))
        pairs = zip(before.splitlines(), after.splitlines(), strict=False)
        print(mutant["file"], mutant["line"], *(f"\n- {a}\n+ {b}" for a, b in pairs if a != b))


if __name__ == "__main__":
    main()
