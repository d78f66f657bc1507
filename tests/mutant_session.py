"""All tests of the library collected once in one process, and forks of it that run some of them.

`try_mutants` plants one error in a fork and runs the tests that are named for it, until one fails.
It is bounded in seconds, and tells of each error as it goes.
"""

from __future__ import annotations

import gc
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
CODE = ("rbmlib", "book/lab")
MARKED = "not chapters and not pages and not processes"
QUIET = ["-q", "-p", "no:cacheprovider", "-p", "no:nbval", "--no-header"]
CPU_SECONDS = 90  # beyond, an error counts as noticed: the test would not end
START, LONGER = 10, 3  # seconds and times what its tests took: the same, where they are short


def quiet_threads() -> None:
    os.environ.update(RBMLIB_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")


def pytest_on(arguments: list[str], plugins=()) -> int:
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    return int(pytest.main([*QUIET, *arguments], plugins=plugins))


def collected(work, where=(*CODE, "tests"), marked=MARKED) -> None:
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
        os.setpgrp()
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
    """Every function of `CODE` that is in memory, closures too, by its file."""
    found, inside = defaultdict(list), tuple(str(ROOT / folder) for folder in CODE)
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


def try_mutants(mutants, tree_of, tests_of, seconds_of, until: float, keep, anew=False) -> None:
    """Each error in a fork, judged by its tests; ``keep(mutant, verdict)`` is told of each.

    With ``anew`` those that survive are tried once more, in a process of their own.
    """

    def work(items):
        by_name = {item.nodeid: item for item in items}
        functions = _functions()
        loaded = {getattr(module, "__file__", None) for module in sys.modules.values()}
        for mutant in mutants:
            if time.time() > until:
                break
            tests, began = tests_of(mutant), time.time()
            path = str(ROOT / mutant["file"])

            def fork(answer, mutant=mutant, tests=tests, path=path):
                tree = tree_of(mutant)
                plant(mutant["file"], lambda text: tree)
                changed = _patched(functions[path], compile(tree, path, "exec"))
                if not changed and path in loaded:
                    answer({"imported": True})  # what runs at import has run
                else:
                    first_failure([by_name[t] for t in tests if t in by_name], answer)

            most = min(CPU_SECONDS, START + int(LONGER * seconds_of(tests)))
            said = in_fork(fork, most, 900) if tests else {"through": True, "ended": 0}
            found = verdict(said)
            if found["caught"] is None or (anew and tests and not found["caught"]):
                found = afresh(mutant, tests)
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
