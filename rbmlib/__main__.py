"""Command line: ``python -m rbmlib logz MODEL``, ``run SWEEP.yaml`` and ``data``."""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
import warnings
from pathlib import Path

from . import __version__, datasets
from ._files import checked_target
from .automatic import log_z
from .automatic.log_z import BUDGET_SECONDS
from .models.names import LAYOUTS
from .results import ConvergenceWarning, Estimate

SHOWN_ERRORS = 10
STOPPED = 128 + signal.SIGINT


def main(arguments=None) -> int:
    options = _parser().parse_args(arguments)
    warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
    try:
        return options.run(options)
    except BrokenPipeError:  # whoever read the output has seen enough
        return 128 + signal.SIGPIPE
    except MemoryError as error:
        print(f"error: not enough memory: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except (ValueError, TypeError, OSError, RuntimeError, ArithmeticError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped: nothing was written", file=sys.stderr)
        return STOPPED


def _say(text: str) -> None:
    """Print at once: Python would tell of errors when it ends, with a traceback."""
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python will try again
        raise OSError(error.errno, error.strerror, "standard output") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rbmlib",
        allow_abbrev=False,
        description="Partition functions of restricted Boltzmann machines.",
    )
    parser.add_argument("--version", action="version", version=f"rbmlib {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    logz = commands.add_parser(
        "logz",
        allow_abbrev=False,  # a misspelt option is refused, not guessed
        help="estimate log Z of a model, with bounds",
        description="Estimate log Z (nats) of a Bernoulli RBM from below and from above. "
        "The same --steps and --seed give the same digits; with --budget the number of steps is "
        "printed. "
        "Exit code: 0 if every check passed, 1 if not, 2 for wrong input.",
    )
    logz.add_argument("model", metavar="MODEL", help="a registered name (see: data), .npz or .mat")
    logz.add_argument(
        "--layout",
        choices=LAYOUTS,
        help="rows and columns of the weights in a file of another program; default: as the "
        "lengths of the biases tell",
    )
    logz.add_argument(
        "--data",
        metavar="FILE",
        help="training data for the base: 'mnist', or rows in a .npy, .npz or .csv, of values in "
        "[0, 1] or with --threshold",
    )
    logz.add_argument(
        "--threshold", type=float, metavar="T", help="values of the data above it are 1, others 0"
    )
    logz.add_argument(
        "--budget",
        type=float,
        metavar="SECONDS",
        help=f"default: {BUDGET_SECONDS:g}, or less where short runs pass every check; "
        "compilation, once after an installation, is not counted",
    )
    logz.add_argument(
        "--steps", type=int, metavar="N", help="of each run, instead of a budget: fixes the result"
    )
    logz.add_argument("--seed", type=int, default=0, help="default: 0")
    logz.add_argument("--threads", type=int, metavar="N", help="default: all")
    logz.add_argument(
        "--estimate", action="store_true", help="estimate also where enumeration is possible"
    )
    logz.add_argument("--json", action="store_true", help="print one JSON object")
    logz.add_argument("--save", metavar="FILE", help="save the whole estimate as JSON")
    logz.set_defaults(run=_logz)

    run = commands.add_parser(
        "run",
        allow_abbrev=False,
        help="compute the table of a sweep, or what is missing of it",
        description="Compute the tasks that a sweep declares and write its table. It can be "
        "stopped at any time: the same command goes on where it was. "
        "Exit code: 0 if every task has a result, 1 if some failed, 2 for wrong input.",
    )
    run.add_argument("sweep", metavar="SWEEP.yaml", help="see book/scales for examples")
    run.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a Dask scheduler, tcp://HOST:PORT; default: worker processes on this machine",
    )
    run.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="worker processes on this machine; default: one a processor",
    )
    run.add_argument(
        "--store", metavar="FILE", help="where results are kept; default: beside the table"
    )
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="replace a setting in every task that takes it, in YAML: n_chains=100, "
        "'seed=[0, 1]'; may be repeated, and needs --folder",
    )
    run.add_argument(
        "--folder", metavar="FOLDER", help="where the table goes; default: as the sweep says"
    )
    run.add_argument(
        "--dry-run",
        action="store_true",
        help="say what there is to do, how long, and what would fail (exit code 2)",
    )
    run.set_defaults(run=_run)

    data = commands.add_parser("data", help="list data sets and models, and where they are")
    data.set_defaults(run=_data)
    return parser


def _check_is_estimate(target: Path) -> None:
    """Raises ValueError: only an earlier estimate may be replaced by another."""
    try:
        Estimate.load(target)
    except ValueError:
        raise ValueError(
            f"--save is {str(target)!r}, a file that holds something else than an estimate: "
            "expected the name of a new file"
        ) from None


def _logz(options) -> int:
    if options.budget is not None and options.steps is not None:
        raise ValueError("--budget and --steps: expected one of them; --steps fixes the result")
    rbm = datasets.load_rbm(options.model, layout=options.layout)
    if options.save:
        sources = (Path(x).expanduser() for x in (options.model, options.data) if x)
        target = checked_target(
            options.save, "--save", [*sources, *datasets.rbms.rbm_files(options.model)]
        )
        if target.exists() and target.stat().st_size:
            _check_is_estimate(target)
    estimate = log_z(
        rbm,
        data=_training_data(options.data, options.threshold, rbm.n_visible),
        budget_seconds=options.budget,
        n_steps=options.steps,
        rng=options.seed,
        enumerate_small=not options.estimate,
        n_threads=options.threads,
    )
    if not math.isfinite(estimate.log_z):
        raise ValueError(
            f"{options.model}: log Z comes out as {estimate.log_z}: its parameters are too large"
        )
    text = (
        _as_json(options.model, estimate)
        if options.json
        else _as_text(options.model, rbm, estimate)
    )
    try:
        if options.save:
            estimate.save(options.save)
    finally:  # hours of work may be in it
        _say(text)
    return 0 if estimate.converged else 1


def _training_data(name: str | None, threshold: float | None, n_visible: int):
    if threshold is not None and name in (None, "mnist"):
        raise ValueError(f"--threshold is {threshold:g}: expected --data FILE with it")
    if name is None:
        return None
    if name == "mnist":
        return datasets.load_mnist().train
    try:
        return datasets.load_rows(name, n_visible, threshold=threshold)
    except (ValueError, FileNotFoundError) as error:
        advice = "" if threshold is not None else "; --threshold T makes bits of other values"
        raise ValueError(
            f"--data is {name!r}: {error}; expected 'mnist', or a .npy, .npz or .csv of "
            f"(n_samples, {n_visible}) values in [0, 1]{advice}"
        ) from None


def _as_json(model: str, estimate: Estimate) -> str:
    settings = estimate.settings
    content = {
        "model": model,
        "method": estimate.method,
        "log_z": estimate.log_z,
        "std_error": estimate.std_error,
        "interval": estimate.interval,
        "lower_bound": settings["lower_bound"],
        "upper_bound": settings["upper_bound"],
        "n_steps": settings.get("n_steps"),
        "ess": estimate.ess,
        "n_chains": estimate.n_chains,
        "seconds": estimate.seconds,
        "converged": estimate.converged,
        "verdict": settings["verdict"],
        "settings": settings,
    }
    return json.dumps(_finite(content), allow_nan=False)


def _finite(value):
    """The same with None for what is not finite, which JSON does not know."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_text(model: str, rbm, estimate: Estimate) -> str:
    settings = estimate.settings
    lines = [f"model        {model} ({rbm.n_visible} visible, {rbm.n_hidden} hidden units)"]
    if estimate.method == "exact":
        lines += [
            f"log Z        {estimate.log_z:.6f}  exact, by enumeration",
            "bounds       both equal to it; --estimate runs AIS instead",
        ]
    else:
        (low, low_error), (high, high_error) = settings["lower_bound"], settings["upper_bound"]
        lines += [
            f"log Z        {estimate.log_z:.4f} ± {estimate.std_error:.4f}"
            f"  ({_interval(estimate)})",
            f"lower bound  {low:.4f} ± {low_error:.4f}  mean log-weight of AIS",
            f"upper bound  {high:.4f} ± {high_error:.4f}  mean log-weight of reverse AIS "
            "from resampled particles",
            f"ESS          {estimate.ess:.0f} of {estimate.n_chains} chains",
            f"settings     {settings['n_steps']} steps, base: {settings['base']}, "
            f"seed {settings['rng']}; the same digits again: --steps {settings['n_steps']} "
            f"--seed {settings['rng']}",
        ]
        lines += [f"check        {'ok  ' if ok else 'FAIL'} {text}"
                  for text, ok in settings["checks"].items()]  # fmt: skip
    lines.append(f"verdict      {settings['verdict']}")
    compiling = settings.get("compile_seconds", 0.0)
    of_which = f", of which compiling {compiling:.1f}" if compiling else ""
    return "\n".join([*lines, f"seconds      {estimate.seconds:.1f}{of_which}"])


def _interval(estimate: Estimate) -> str:
    """The interval in words: after a failed check it is a bracket, or there is none."""
    low, high = estimate.interval
    if estimate.converged:
        return f"95%: {low:.4f} to {high:.4f}"
    if math.isfinite(high):
        return f"a check failed: log Z is from {low:.1f} to {high:.1f}"
    return f"no interval: a check shows that something was missed; log Z is above {low:.1f}"


def _run(options) -> int:
    if options.workers is not None and options.workers < 0:
        raise ValueError(f"--workers is {options.workers}: expected 0 (a thread) or more")
    if options.workers is not None and options.scheduler:
        raise ValueError("--workers and --scheduler: a scheduler has workers of its own")
    if options.scheduler == "":
        raise ValueError("--scheduler is empty: expected an address such as tcp://HOST:PORT")
    from .book.experiments import BOOK_ESTIMATES, book_sweep
    from .sweeps.declaration import faults, read_overrides, read_yaml
    from .sweeps.faults import folder_fault

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
    _say(f"{sweep.name}: {len(sweep.tasks)} tasks, {n_todo} to do ({time if n_todo else 'none'})")
    if options.dry_run:
        for name in BOOK_ESTIMATES.to_download(sweep.tasks.values()):
            _say(f"{name} will be downloaded, or read from $RBMLIB_DATA")
        return 0
    try:
        done = sweep.run(options.scheduler, n_workers=options.workers, progress=True)
    except KeyboardInterrupt:
        print("stopped: what is finished is stored; the same command goes on", file=sys.stderr)
        return STOPPED
    _say(
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


def _data(options) -> int:
    _say("data sets, committed: MNIST (load_mnist), DNA (load_dna), 2,500 images of CIFAR-10")
    _say("(load_cifar10); fetched: course_test, cifar10 (all of it), svhn_train, svhn_test")
    _say("RBMs:")
    for info in datasets.list_rbms():
        _say(f"  {info.name:24} {info.n_visible} x {info.n_hidden:<5} {info.where}")
    _say(f"published models are fetched into {datasets.cache_folder()}, or read from $RBMLIB_DATA")
    return 0


if __name__ == "__main__":
    warnings.simplefilter("always", ConvergenceWarning)
    code = main()
    if code == STOPPED:  # nothing is left to be closed that is worth waiting for
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
