"""``run SWEEP.yaml``: the table of a sweep, or what is missing of it."""

from __future__ import annotations

import sys
from pathlib import Path

from rbmbook.experiments import BOOK_ESTIMATES, book_sweep

from ..sweeps.declaration import faults, read_overrides, read_yaml
from ..sweeps.faults import folder_fault
from ._output import say

SHOWN_ERRORS = 10


def run(options) -> int:
    if options.workers is not None and options.workers < 0:
        raise ValueError(f"--workers is {options.workers}: expected 0 (a thread) or more")
    if options.workers is not None and options.scheduler:
        raise ValueError("--workers and --scheduler: a scheduler has workers of its own")
    if options.scheduler == "":
        raise ValueError("--scheduler is empty: expected an address such as tcp://HOST:PORT")
    overrides = read_overrides(options.set)
    if overrides and not options.folder:
        raise ValueError("--set needs --folder: the table would replace one of other settings")
    if options.dry_run:
        tasks = read_yaml(Path(options.sweep), BOOK_ESTIMATES, overrides).tasks
        if found := faults(tasks, BOOK_ESTIMATES):
            return _say_faults(found, len(tasks))
    sweep = book_sweep(
        options.sweep, store=options.store, folder=options.folder, overrides=overrides,
        check_models=not options.dry_run,
    )  # fmt: skip
    if options.dry_run and (fault := folder_fault(sweep.folder, sweep.store.parent)):
        raise ValueError(fault)
    if options.folder and not options.dry_run:
        sweep.folder.mkdir(parents=True, exist_ok=True)
    n_todo, seconds = sweep.expected_seconds()
    time = (
        "no earlier run says how long" if seconds is None else f"{_duration(seconds)} of one core"
    )
    say(f"{sweep.name}: {len(sweep.tasks)} tasks, {n_todo} to do ({time if n_todo else 'none'})")
    if options.dry_run:
        for name in BOOK_ESTIMATES.to_download(sweep.tasks.values()):
            say(f"{name} will be downloaded, or read from $RBMLIB_DATA")
        return 0
    try:
        done = sweep.run(options.scheduler, n_workers=options.workers, progress=True)
    except KeyboardInterrupt:
        print("stopped: what is finished is stored; the same command goes on", file=sys.stderr)
        return 130
    say(
        f"{done.n_finished} finished in {_duration(done.seconds)}, {done.n_before} were there, "
        f"{len(done.failed)} failed: {sweep.to_csv()}"
    )
    for key, error in list(done.failed.items())[:SHOWN_ERRORS]:
        print(f"failed: {sweep.tasks[key]}: {error}", file=sys.stderr)
    return 1 if done.failed else 0


def _say_faults(found: list[tuple[dict, str]], n_tasks: int) -> int:
    by_reason: dict[str, list[dict]] = {}
    for task, reason in found:
        by_reason.setdefault(reason, []).append(task)
    print(f"error: {len(found)} of {n_tasks} tasks would fail", file=sys.stderr)
    for reason, tasks in list(by_reason.items())[:SHOWN_ERRORS]:
        print(f"would fail: {reason}", file=sys.stderr)
        print(f"  {len(tasks)} tasks, such as {tasks[0]}", file=sys.stderr)
    if len(by_reason) > SHOWN_ERRORS:
        print(f"... and {len(by_reason) - SHOWN_ERRORS} other reasons", file=sys.stderr)
    return 2


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"
