"""Command line: ``python -m rbmlib logz MODEL`` estimates log Z; ``data`` lists the models."""

import argparse
import contextlib
import json
import math
import os
import signal
import sys
import warnings
from typing import Any

import numpy as np
from numba.core import event

from . import datasets
from .automatic.log_z import BUDGET_SECONDS, log_z
from .context import __version__, using
from .datasets.own import read_numbers
from .estimate import outward
from .files import checked_target
from .models.formats import LAYOUTS
from .models.layers import UNITS, Layer, Spin
from .results import ConvergenceWarning, Estimate

COMPILING = "rbmlib: compiling its loops for this processor (only once; about half a minute)"
OPTION_OF = {
    "n_steps": "--steps", "n_chains": "--chains", "rng": "--seed", "budget_seconds": "--budget",
    "n_threads": "--threads",
}  # fmt: skip
ERRORS = (ValueError, TypeError, OSError, RuntimeError, ArithmeticError, ImportError, MemoryError)


def main(arguments=None) -> int:
    with warnings.catch_warnings():
        warnings.showwarning = lambda text, *_, **__: print(f"warning: {text}", file=sys.stderr)
        try:
            options = _parser().parse_args(arguments)
            return options.run(options)
        except BrokenPipeError:  # the reader closed the pipe
            return 128 + signal.SIGPIPE
        except ERRORS as error:
            memory = "not enough memory: " * isinstance(error, MemoryError)
            first, *rest = str(error).split() or [""]
            words = " ".join([OPTION_OF.get(first, first), *rest])
            print(f"error: {memory}{words}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print("stopped: nothing was written", file=sys.stderr)
            return 128 + signal.SIGINT


def _parser() -> argparse.ArgumentParser:
    about = "Partition functions of restricted Boltzmann machines."
    parser = argparse.ArgumentParser("python -m rbmlib", allow_abbrev=False, description=about)
    parser.add_argument("--version", action="version", version=f"rbmlib {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    listed = commands.add_parser("data", help="list data sets and models, with their locations")
    listed.set_defaults(run=data)
    estimated = commands.add_parser(
        "logz",
        allow_abbrev=False,  # a misspelt option is refused, not guessed
        help="estimate log Z of a model, with bounds",
        description="Exit code: 0 if every check passed, 1 if a check failed, 2 for wrong input.",
    )
    estimated.set_defaults(run=logz)
    option = estimated.add_argument
    option("model", metavar="MODEL", help="a name (see: data), or an .npz, .mat or .h5 file")
    foreign = "for a file of another program: "
    option("--layout", choices=LAYOUTS, help=foreign + "order of the axes of the weights")
    option("--names", help=foreign + "array names, as in weights=J,visible_bias=u,hidden_bias=v")
    option("--units", choices=UNITS, help=foreign + "0 and 1, or -1 and +1; default: 0 and 1")
    rows = "training data for the base: 'mnist', or a .npy, .npz or .csv file whose rows hold "
    rows += "numbers in [0, 1] (any numbers with --threshold), -1 and +1 or 0 and 1 for spins, or "
    rows += "any numbers for real units"
    option("--data", metavar="FILE", help=rows)
    option("--threshold", type=float, metavar="T", help="set data above T to 1, and others to 0")
    budget = f"default: {BUDGET_SECONDS:g}, or less if short runs pass every check"
    option("--budget", type=float, metavar="SECONDS", help=budget)
    option("--steps", type=float, metavar="N", help="steps of each run, instead of a budget")
    option("--chains", type=float, metavar="N", help="chains per run with --steps (default: 500)")
    option("--seed", type=int, default=0, help="random seed (default: 0)")
    option("--threads", type=int, metavar="N", help="number of threads (default: all)")
    option("--estimate", action="store_true", help="estimate even if enumeration is possible")
    option("--json", action="store_true", help="print one JSON object")
    option("--save", metavar="FILE.json", help="save the estimate")
    return parser


def data(_) -> int:
    _say("data sets in the package: MNIST (load_mnist), DNA (load_dna); downloaded: course_test")
    _say("RBMs:")
    for info in datasets.list_rbms():
        _say(f"  {info.name:24} {info.n_visible} x {info.n_hidden:<5} {info.where}")
    _say(f"published models are downloaded to {datasets.cache_folder()}, or read from $RBMLIB_DATA")
    return 0


def _say(text: str) -> None:
    """Print and flush, because Python would report an error at exit with a traceback."""
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes again
        raise OSError(error.errno, error.strerror, "standard output") from None


def logz(options) -> int:
    rbm = datasets.load_rbm(options.model, **_how(options))
    if options.save:
        if not options.save.endswith(".json"):
            raise ValueError(f"--save is {options.save!r}: expected a name that ends in .json")
        checked_target(options.save, "--save")
    with event.install_listener("numba:compile", Notice()), using(n_threads=options.threads):
        rows = _training_data(options.data, options.threshold, rbm.visible)
        estimate = log_z(
            rbm, data=rows, budget_seconds=options.budget, n_steps=options.steps,
            n_chains=options.chains, rng=options.seed, enumerate_small=not options.estimate,
        )  # fmt: skip
    if not math.isfinite(estimate.log_z):
        raise ValueError(f"parameters of {options.model} are too large: log Z is {estimate.log_z}")
    text = (_as_json if options.json else _as_text)(options, estimate)
    try:
        if options.save:
            estimate.save(options.save)
    finally:  # even if saving failed, because the run may have taken hours
        _say(text)
    return 0 if estimate.converged else 1


def _how(options) -> dict[str, Any]:
    """Return the options that say how to read a file of another program."""
    return {name: getattr(options, name) for name in ("layout", "names", "units")}


class Notice(event.Listener):
    """Listener that prints a notice when the first loop is compiled."""

    said = False

    def on_start(self, event) -> None:
        if not self.said:
            print(COMPILING, file=sys.stderr, flush=True)
        self.said = True

    def on_end(self, event) -> None:
        """Do nothing."""


def _training_data(name: str | None, threshold: float | None, visible: Layer):
    if threshold is not None and name in (None, "mnist"):
        raise ValueError(f"--threshold is {threshold:g}: expected --data FILE with it")
    real = visible.values is None
    if threshold is not None and real:
        raise ValueError(f"--threshold is {threshold:g}: expected none, because units are real")
    if name is None:
        return None
    try:
        if name == "mnist":
            rows = datasets.load_mnist().train
        elif real:
            rows = read_numbers(name, len(visible))
        else:
            rows = datasets.load_rows(name, len(visible), threshold=threshold)
    except (ValueError, FileNotFoundError) as error:
        raise ValueError(f"--data is {name!r}: {error}") from None
    return 2.0 * rows - 1 if isinstance(visible, Spin) and rows.dtype == np.uint8 else rows


def _as_json(options, estimate: Estimate) -> str:
    """Return the estimate as JSON, without its arrays."""
    arrays = ("log_weights", "betas", "log_z_path", "trace")
    content = {name: x for name, x in estimate.to_dict().items() if name not in arrays}
    about = {"model": options.model, "reason": estimate.reason}
    return json.dumps(about | content, allow_nan=False)


def _as_text(options, estimate: Estimate) -> str:
    settings, details = estimate.settings, estimate.details
    lines = [f"model        {options.model} ({settings['model']})"]
    if settings["model"].endswith("units 0/1") and not options.units:
        with contextlib.suppress(ValueError):  # raised if the file itself names its units
            datasets.load_rbm(options.model, **_how(options) | {"units": "spins"})
            lines[0] += "; if its units are -1/+1, use --units spins"
    if estimate.method == "exact":
        lines.append(f"log Z        {estimate.log_z:.6f}  exact, by enumeration")
        lines.append("bounds       both equal log Z; --estimate runs AIS instead")
    else:
        (low, low_error), (high, high_error) = details["lower_bound"], details["upper_bound"]
        steps, chains, seed = (settings[name] for name in ("n_steps", "n_chains", "rng"))
        again = f"--steps {steps} --chains {chains} --seed {seed}"
        again += " --estimate" * options.estimate
        reverse = "mean log-weight of reverse AIS from resampled particles"
        error = f"± {estimate.std_error:.4f}  ({_interval(estimate)})"
        if estimate.verdict == "exact":
            error = " exact, by a sum over states"
        lines += [
            f"log Z        {estimate.log_z:.4f} {error}",
            f"lower bound  {low:.4f} ± {low_error:.4f}  mean log-weight of AIS",
            f"upper bound  {high:.4f} ± {high_error:.4f}  {reverse}",
            f"ESS          {estimate.ess:.0f} of {estimate.n_chains} chains "
            "(effective sample size)",
            f"settings     {steps} steps, {chains} chains, base: {settings['base']}, seed {seed}; "
            f"for the same digits: {again}",
        ]
        lines += [f"check        {'ok  ' if c.passed else 'FAIL'} {c}" for c in estimate.checks]
    lines.append(f"verdict      {estimate.verdict}: {estimate.reason}")
    if estimate.method == "log_z":
        lines.append(f"needed       {details['steps']}")
    return "\n".join([*lines, f"seconds      {estimate.seconds:.1f}"])


def _interval(estimate: Estimate) -> str:
    """Return the interval in words; after a failed check it is a bracket or missing."""
    low, high = outward(estimate.interval, 4 if estimate.converged else 1)
    if estimate.converged:
        return f"95%: {low:.4f} to {high:.4f}"
    if math.isfinite(high):
        return f"a check failed: log Z lies between {low:.1f} and {high:.1f}"
    return f"no interval: a check shows that something was missed; log Z is above {low:.1f}"


if __name__ == "__main__":
    warnings.simplefilter("always", ConvergenceWarning)
    sys.exit(main())
