"""``python -m rbmbook``: ``run SWEEP`` computes a table, ``bench FILE`` judges answers."""

import argparse
import os
import signal
import sys
import warnings

import pandas as pd

from rbmbook import bench
from rbmbook.experiments import book_sweep
from rbmbook.sweeps.declare import read_overrides, shown

SHOWN_ERRORS = 10
WRONG = (ValueError, TypeError, OSError, RuntimeError, ArithmeticError, ImportError, MemoryError)


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 if every task has a result, 1 if some failed, 2 for wrong input."""
    options = _parser().parse_args(arguments)
    warnings.showwarning = lambda message, *_, **__: _complain(f"warning: {message}")
    try:
        return options.do(options)
    except BrokenPipeError:  # the reader of the output has closed it
        return 128 + signal.SIGPIPE
    except WRONG as error:
        _complain(f"error: {' '.join(str(error).split())}")
        return 2


def _run(options) -> int:
    sweep = book_sweep(
        options.sweep, store=options.store, folder=options.folder,
        overrides=read_overrides(options.set),
    )  # fmt: skip
    todo = sweep.todo()
    print(f"{sweep.name}: {len(sweep.tasks)} tasks, {len(todo)} to do", flush=True)
    if options.dry_run:
        return 0
    sweep.folder.mkdir(parents=True, exist_ok=True)
    done = sweep.run(options.scheduler, n_workers=options.workers, progress=True)
    print(
        f"{done.n_finished} finished in {done.seconds:.0f} s, {done.n_before} were there, "
        f"{len(done.failed)} failed: {sweep.to_csv()}"
    )
    for key, error in list(done.failed.items())[:SHOWN_ERRORS]:
        _complain(f"failed: {shown(sweep.tasks[key])}: {error}")
    return 1 if done.failed else 0


def _bench(options) -> int:
    models = bench.read_index(options.index)
    found = bench.scores(bench.read_answers(options.answers), models)
    table = pd.DataFrame([bench.row(family, score) for family, score in found.items()])
    table = table.drop(columns="seconds").rename(columns={"program": "family"})
    print(table.to_string(index=False))
    return 0


def _complain(text: str) -> None:
    print(text, file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    told = {"allow_abbrev": False}  # refuse misspelt options
    parser = argparse.ArgumentParser("python -m rbmbook", description="Tables of the book.", **told)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    what = "compute the table of a sweep, or its missing rows"
    more = "It can be stopped at any time; the same command resumes it."
    about = f"{what}. {more} {main.__doc__}"
    run = commands.add_parser("run", help=what, description=about, **told)
    say = run.add_argument
    say("sweep", metavar="SWEEP", help="a name in book/scales, or a YAML file of your own")
    on = run.add_mutually_exclusive_group().add_argument
    on("--scheduler", metavar="tcp://HOST:PORT", help="of Dask; default: workers on this machine")
    on("--workers", type=int, metavar="N", help="here; default: one per processor; 0: a thread")
    say("--store", metavar="FILE", help="for results; default: beside the table")
    say("--folder", help="for the table; default: that of the sweep")
    how = "in every grid that names the setting: n_chains=100, 'seed=[0, 1]'; needs --folder"
    say("--set", action="append", default=[], metavar="NAME=VALUE", help=how)
    say("--dry-run", action="store_true", help="print only the number of missing rows")
    run.set_defaults(do=_run)
    judge = commands.add_parser(
        "bench", help="judge answers by any program on models with known log Z",
        description=bench.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, **told,
    )  # fmt: skip
    judge.add_argument("answers", metavar="FILE", help="a CSV of name,log_z,std_error,trusted")
    judge.add_argument("--index", metavar="FILE", help="list of models; default: data/bench")
    judge.set_defaults(do=_bench)
    return parser


def _stop(*_) -> None:
    """Stop at Ctrl-C without messages of libraries; our own worker processes end, too."""
    _complain("stopped: what is finished is stored; the same command goes on")
    os._exit(128 + signal.SIGINT)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, _stop)
    sys.exit(main())
