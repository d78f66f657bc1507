"""All tests of the library collected once in one process, and forks of it that run some of them.

`record` keeps the lines of rbmlib that each test runs, file by file of the tests; `try_mutants`
plants one error in a fork and runs the tests that reach its line, the quick ones first, until one
fails. Both are bounded in seconds, keep what they have, and go on from it.
"""

from __future__ import annotations

import gc
import hashlib
import importlib.machinery
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType, FunctionType

import pytest

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "_build" / "mutants"
MARKED = "not chapters and not pages and not processes"
QUIET = ["-q", "-p", "no:cacheprovider", "-p", "no:nbval", "--no-header"]
MOST_SECONDS = 20.0  # of tests for one error, as recorded
CPU_SECONDS = 90  # beyond, an error counts as noticed: the test would not end


def quiet_threads() -> None:
    os.environ.update(RBMLIB_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")


def pytest_on(arguments: list[str], plugins=()) -> int:
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    return int(pytest.main([*QUIET, *arguments], plugins=plugins))


def collected(work, where=("rbmlib", "tests"), marked=MARKED) -> None:
    """Call ``work(items)`` where every test of the library is collected and none has run."""

    class Session:
        def pytest_runtestloop(self, session):
            work(session.items)
            return True

    pytest_on(["-m", marked, "--doctest-modules", *where], [Session()])


def in_fork(work, cpu_seconds: int, wall_seconds: float) -> dict:
    """What ``work(answer)`` answered last in a forked process; ``ended`` says how that ended."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
        try:
            work(lambda said: os.write(writing, json.dumps(said).encode() + b"\n"))
        except BaseException as error:
            os.write(writing, json.dumps({"broke": repr(error)[:300]}).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(writing)
    os.set_blocking(reading, False)
    end, said, ended = time.monotonic() + wall_seconds, b"", None
    while ended is None:
        done, status = os.waitpid(pid, os.WNOHANG)
        while part := _read(reading):
            said += part
        if done:
            ended = os.waitstatus_to_exitcode(status)
        elif time.monotonic() > end:
            ended = -signal.SIGKILL
            os.waitpid(pid, 0) if _stop(pid) else None
        else:
            time.sleep(0.01)
    _stop(pid)  # and what a test may have left
    os.close(reading)
    answer = {}
    for line in said.splitlines(keepends=True):
        answer |= json.loads(line) if line.endswith(b"\n") else {}
    return answer | {"ended": ended}


def _read(pipe: int) -> bytes:
    try:
        return os.read(pipe, 1 << 16)
    except BlockingIOError:
        return b""


def _stop(group: int) -> bool:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class Watch:
    """Runs items in this process; tells of each phase and of each report."""

    def __init__(self, on_phase, on_report):
        self.on_phase, self.on_report = on_phase, on_report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.on_phase(item, "setup")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item):
        self.on_phase(item, "call")

    def pytest_runtest_logreport(self, report):
        self.on_report(report)

    def run(self, items) -> None:
        config = items[0].config
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(self)
        for item, following in zip(items, [*items[1:], None], strict=True):
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)


# recording --------------------------------------------------------------------------------------


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def is_current(kept: dict, marked: str = "") -> bool:
    """Neither the tests nor what they reach of the library changed since they were recorded."""
    return kept["marked"] in (MARKED, marked or kept["marked"]) and all(
        (ROOT / f).exists() and digest(ROOT / f) == d for f, d in kept["digests"].items()
    )


def record(until: float, names: list[str], quick: bool) -> None:
    """Which lines of rbmlib each test runs, and its seconds; what is current is not done again."""
    (KEPT / "covered").mkdir(parents=True, exist_ok=True)
    marked = f"{MARKED} and not statistical" if quick else MARKED

    def work(items):
        by_file = defaultdict(list)
        for item in items:
            by_file[item.nodeid.partition("::")[0]].append(item)
        for name, some in sorted(by_file.items()):
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
                1500,
                3000,
            )
            print(f"{name}: {said} {time.time() - began:.0f} s", flush=True)

    collected(work, [f"tests/{name}" for name in names] or ["rbmlib", "tests"], marked)


def _recorded(items, target: Path, marked: str) -> None:
    import coverage

    cover = coverage.Coverage(
        data_file=None, source=[str(ROOT / "rbmlib")], config_file=False, messages=False
    )
    seconds, outcomes, phases = defaultdict(float), {}, ("setup", "call")

    def on_report(report):
        seconds[report.nodeid] += report.duration
        if report.when == "call" or report.outcome != "passed":
            outcomes[report.nodeid] = report.outcome

    cover.start()
    watch = Watch(lambda item, phase: cover.switch_context(f"{phase}|{item.nodeid}"), on_report)
    watch.run(items)
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
        self.seconds, self.file_of = {}, {}
        self.reached = defaultdict(set)  # tests by file and line
        self.reached_file = defaultdict(set)
        self.stale = [f.stem for f, k in zip(files, kept, strict=True) if not is_current(k)]
        for k in kept:
            passed = {t for t in k["tests"] if k["outcomes"].get(t) == "passed"}
            self.seconds |= {t: k["seconds"][t] for t in passed}
            # what one test's fixtures ran may be shared by every other test of the file
            for phase, every in (("call", False), ("setup", True)):
                for test, files_of in k["lines"].get(phase, {}).items():
                    tests = passed if every else {test} & passed
                    for name, numbers in files_of.items():
                        self.reached_file[name] |= tests
                        for n in numbers:
                            self.reached[name, n] |= tests

    def chosen(self, mutant: dict) -> list[str]:
        """Tests that reach the line; those that reach its module, if it runs at import only."""
        lines = range(mutant["line"], mutant["end"] + 1)
        found = set().union(*(self.reached[mutant["file"], n] for n in lines))
        found = found or self.reached_file[mutant["file"]]
        total, chosen = 0.0, []
        for test in sorted(found, key=lambda t: (self.seconds[t], t)):
            total += self.seconds[test]
            if chosen and total > MOST_SECONDS:
                break
            chosen.append(test)
        return chosen


# trying -----------------------------------------------------------------------------------------


def plant(file: str, tree_of) -> None:
    """From now on the module is compiled from ``tree_of(its text)``, whatever is cached."""
    path = str(ROOT / file)
    before = importlib.machinery.SourceFileLoader.get_code

    def get_code(self, name):
        if self.path != path:
            return before(self, name)
        return compile(tree_of(Path(path).read_text(encoding="utf-8")), path, "exec")

    importlib.machinery.SourceFileLoader.get_code = get_code


def _codes_in(code: CodeType):
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)


def _name(code: CodeType) -> tuple:
    return code.co_qualname, code.co_firstlineno


def _functions() -> dict[str, list[FunctionType]]:
    """Every function of rbmlib that is in memory, closures too, by its file."""
    found, inside = defaultdict(list), str(ROOT / "rbmlib")
    for f in gc.get_objects():
        if type(f) is FunctionType and f.__code__.co_filename.startswith(inside):
            found[f.__code__.co_filename].append(f)
    return found


def _patched(functions: list[FunctionType], module: CodeType) -> bool:
    """Give functions in memory the code that the module has now; whether one is another then."""
    new, changed = {_name(code): code for code in _codes_in(module)}, False
    for function in functions:
        old, other = function.__code__, new.get(_name(function.__code__))
        if other is None or other.co_freevars != old.co_freevars:
            continue
        changed |= any(
            getattr(old, part) != getattr(other, part)
            for part in ("co_code", "co_consts", "co_names", "co_varnames")
        )
        function.__code__ = other
    return changed


def first_failure(items, answer) -> None:
    """Run items until one fails, and say which."""

    def on_report(report):
        if report.failed:
            answer({"failed": report.nodeid, "when": report.when})
            os._exit(0)

    Watch(lambda item, phase: answer({"at": item.nodeid}), on_report).run(items)
    answer({"through": True})


def verdict(said: dict) -> dict:
    """Whether the error was noticed, and by what."""
    if said.get("imported"):
        return {"caught": None}
    by = said.get("failed") or said.get("at", "")
    ended = "" if said["ended"] == 0 else f" (ended with {said['ended']})"
    return {"caught": not said.get("through"), "by": "" if said.get("through") else by + ended}


def try_mutants(mutants, tree_of, until: float, keep) -> None:
    """Each error in a fork, judged by its tests; ``keep(mutant, verdict)`` is told of each."""
    covered = Coverage()
    if covered.stale:
        print("recorded before a change:", *covered.stale, flush=True)

    def work(items):
        by_name = {item.nodeid: item for item in items}
        functions = _functions()
        loaded = {getattr(module, "__file__", None) for module in sys.modules.values()}
        for mutant in mutants:
            if time.time() > until:
                break
            tests, began = covered.chosen(mutant), time.time()
            path = str(ROOT / mutant["file"])

            def fork(answer, mutant=mutant, tests=tests, path=path):
                tree = tree_of(mutant)
                plant(mutant["file"], lambda text: tree)
                changed = _patched(functions[path], compile(tree, path, "exec"))
                if not changed and path in loaded:
                    answer({"imported": True})
                else:
                    first_failure([by_name[t] for t in tests if t in by_name], answer)

            said = in_fork(fork, CPU_SECONDS, 900) if tests else {"through": True, "ended": 0}
            found = verdict(said)
            if found["caught"] is None or (not found["caught"] and tests):
                found = afresh(mutant, tests)  # what ran at import, or was kept from before
            keep(mutant, found | {"tests": len(tests), "seconds": round(time.time() - began, 1)})

    collected(work)


def afresh(mutant: dict, tests: list[str]) -> dict:
    """The same in a process that imports rbmlib with the error in it."""
    given = json.dumps({"mutant": mutant, "tests": tests})
    program = [sys.executable, str(ROOT / "tests" / "mutants.py"), "one"]
    try:
        done = subprocess.run(program, input=given, text=True, cwd=ROOT, capture_output=True,
                              timeout=900)  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"caught": True, "by": "no end"}
    failed = [line.split(" ")[1] for line in done.stdout.splitlines()
              if line.startswith(("FAILED ", "ERROR "))]  # fmt: skip
    caught = done.returncode not in (0, 5)
    return {"caught": caught, "by": (failed or [f"status {done.returncode}"])[0] if caught else ""}
