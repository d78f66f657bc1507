"""Which lines of the code each test runs, and its seconds, kept file by file of the tests."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import time
from collections import defaultdict
from pathlib import Path

import pytest
from mutant_session import CODE, KEPT, MARKED, ROOT, Watch, collected, in_fork

MOST_SECONDS = 20.0  # of tests for one error, as recorded
FILE_SECONDS, FILE_WALL = 20, 90  # a file of tests is recorded so long, statistical tests last


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def is_current(kept: dict, marked: str = "") -> bool:
    """Neither the tests nor what they reach of the library changed since they were recorded."""
    return kept["marked"] in (MARKED, marked or kept["marked"]) and all(
        (ROOT / f).exists() and digest(ROOT / f) == d for f, d in kept["digests"].items()
    )


def record(until: float, names: list[str], quick: bool) -> None:
    """Which lines each test runs, and its seconds; what is current is not done again."""
    (KEPT / "covered").mkdir(parents=True, exist_ok=True)
    marked = f"{MARKED} and not statistical" if quick else MARKED

    def work(items):
        by_file = defaultdict(list)
        for item in items:
            by_file[item.nodeid.partition("::")[0]].append(item)
        for name, some in sorted(by_file.items()):
            some.sort(key=lambda item: item.get_closest_marker("statistical") is not None)
            target = KEPT / "covered" / f"{name.replace('/', '.')}.json"
            kept = json.loads(target.read_text()) if target.exists() else None
            if kept and is_current(kept, marked):
                continue
            if time.time() > until:
                print(f"not recorded yet: {name}", flush=True)
                continue
            began = time.time()
            said = in_fork(
                lambda answer, some=some, target=target: _recorded(some, target, marked),
                10 * FILE_SECONDS,
                2 * FILE_WALL,
            )
            print(f"{name}: {said} {time.time() - began:.0f} s", flush=True)

    collected(work, [f"tests/{name}" for name in names] or [*CODE, "tests"], marked)


def _processor_seconds() -> float:
    return sum(os.times()[:4])  # of this process and of those that it started and that ended


def _run_for_a_while(watch: Watch, items) -> None:
    """What has not ended by then is not among the outcomes."""

    def stop(*_):
        raise pytest.exit.Exception("recorded long enough")

    for timer, number, seconds in (
        (signal.ITIMER_PROF, signal.SIGPROF, FILE_SECONDS),
        (signal.ITIMER_REAL, signal.SIGALRM, FILE_WALL),
    ):
        signal.signal(number, stop)
        signal.setitimer(timer, seconds)
    with contextlib.suppress(pytest.exit.Exception):
        watch.run(items)
    for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
        signal.setitimer(timer, 0)


def _recorded(items, target: Path, marked: str) -> None:
    import coverage

    cover = coverage.Coverage(
        data_file=None,
        source=[str(ROOT / folder) for folder in CODE],
        config_file=False,
        messages=False,
    )
    began, seconds, outcomes, phases = {}, {}, {}, ("setup", "call")

    def on_phase(item, phase):
        began.setdefault(item.nodeid, _processor_seconds())
        cover.switch_context(f"{phase}|{item.nodeid}")

    def on_report(report):
        seconds[report.nodeid] = _processor_seconds() - began[report.nodeid]
        if report.when == "call" or report.outcome != "passed":
            outcomes[report.nodeid] = report.outcome

    cover.start()
    _run_for_a_while(Watch(on_phase, on_report), items)
    cover.stop()
    data = cover.get_data()
    lines = {phase: defaultdict(lambda: defaultdict(list)) for phase in phases}
    files = {f: str(Path(f).relative_to(ROOT)) for f in data.measured_files()}
    for file, name in files.items():
        for line, contexts in data.contexts_by_lineno(file).items():
            for phase, _, test in (c.partition("|") for c in contexts if c):
                lines[phase][test][name].append(line)
    used = {items[0].nodeid.partition("::")[0]}
    used |= {name for by_test in lines.values() for by in by_test.values() for name in by}
    content = {
        "marked": marked,
        "digests": {name: digest(ROOT / name) for name in sorted(used)},
        "tests": [item.nodeid for item in items],
        "seconds": {test: round(s, 4) for test, s in seconds.items()},
        "outcomes": outcomes,
        "lines": lines,
    }
    part = target.with_suffix(".part")
    part.write_text(json.dumps(content))
    part.replace(target)


class Coverage:
    """What `record` kept: the tests of a line, the quick ones first."""

    def __init__(self):
        files = sorted((KEPT / "covered").glob("*.json"))
        kept = [json.loads(f.read_text()) for f in files]
        self.seconds, self.digest_of = {}, {}
        self.reached = defaultdict(set)  # tests by file and line
        self.reached_file = defaultdict(set)
        self.stale = [f.stem for f, k in zip(files, kept, strict=True) if not is_current(k)]
        for k in kept:
            passed = {t for t in k["tests"] if k["outcomes"].get(t) == "passed"}
            self.seconds |= {t: k["seconds"][t] for t in passed}
            self.digest_of |= {t: k["digests"][t.partition("::")[0]] for t in passed}
            # what one test's fixtures ran may be shared by every other test of the file
            for phase, every in (("call", False), ("setup", True)):
                for test, files_of in k["lines"].get(phase, {}).items():
                    tests = passed if every else {test} & passed
                    for name, numbers in files_of.items():
                        self.reached_file[name] |= tests
                        for n in numbers:
                            self.reached[name, n] |= tests

    def chosen(self, mutant: dict, most_seconds: float = MOST_SECONDS) -> list[str]:
        """Tests that reach the line; those that reach its module, if it runs at import only."""
        # what runs at import seems to be reached by the test that happened to import the file
        lines = range(mutant["line"], mutant["end"] + 1) if mutant["inside"] else ()
        found = set().union(*(self.reached[mutant["file"], n] for n in lines))
        found = found or self.reached_file[mutant["file"]]
        total, chosen = 0.0, []
        for test in sorted(found, key=lambda t: (self.seconds[t], t)):
            total += self.seconds[test]
            if chosen and total > most_seconds:
                break
            chosen.append(test)
        return chosen

    def stamp(self, tests: list[str]) -> str:
        """Another one if other tests judge, or if one of them was changed."""
        text = "".join(f"{test} {self.digest_of[test]}" for test in tests)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
