"""Command line: ``python -m rbmlib logz MODEL`` and ``python -m rbmlib data``."""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings

import numpy as np

from . import __version__, datasets
from .estimators import log_z
from .results import ConvergenceWarning, Estimate


def main(arguments=None) -> int:
    options = _parser().parse_args(arguments)
    warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
    try:
        return options.run(options)
    except (ValueError, TypeError, OSError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped: nothing was written", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rbmlib", description="Partition functions of restricted Boltzmann machines."
    )
    parser.add_argument("--version", action="version", version=f"rbmlib {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    logz = commands.add_parser(
        "logz",
        help="estimate log Z of a model, with bounds",
        description="Estimate log Z (nats) of a Bernoulli RBM from below and from above. "
        "Exit code: 0 if every check passed, 1 if not, 2 for wrong input.",
    )
    logz.add_argument("model", metavar="MODEL", help="a registered name (see: data), .npz or .mat")
    logz.add_argument(
        "--data",
        metavar="FILE",
        help="training data for the base: 'mnist', or a .npy array of bits",
    )
    logz.add_argument("--budget", type=float, default=30.0, metavar="SECONDS", help="default: 30")
    logz.add_argument("--seed", type=int, default=0, help="default: 0")
    logz.add_argument("--threads", type=int, metavar="N", help="default: all")
    logz.add_argument(
        "--estimate", action="store_true", help="estimate also where enumeration is possible"
    )
    logz.add_argument("--json", action="store_true", help="print one JSON object")
    logz.add_argument("--save", metavar="FILE", help="save the whole estimate as JSON")
    logz.set_defaults(run=_logz)

    data = commands.add_parser("data", help="list data sets and models, and where they are")
    data.set_defaults(run=_data)
    return parser


def _logz(options) -> int:
    rbm = datasets.load_rbm(options.model)
    estimate = log_z(
        rbm,
        data=_training_data(options.data),
        budget_seconds=options.budget,
        rng=options.seed,
        enumerate_small=not options.estimate,
        n_threads=options.threads,
    )
    if options.save:
        estimate.save(options.save)
    print(
        _as_json(options.model, estimate)
        if options.json
        else _as_text(options.model, rbm, estimate)
    )
    return 0 if estimate.converged else 1


def _training_data(name: str | None):
    if name is None:
        return None
    if name == "mnist":
        return datasets.load_mnist().train
    return np.load(name, allow_pickle=False)


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
        "ess": None if math.isnan(estimate.ess) else estimate.ess,
        "n_chains": estimate.n_chains,
        "seconds": estimate.seconds,
        "converged": estimate.converged,
        "settings": settings,
    }
    return json.dumps(content)


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
            f"  (95%: {estimate.interval[0]:.4f} to {estimate.interval[1]:.4f})",
            f"lower bound  {low:.4f} ± {low_error:.4f}  mean log-weight of AIS",
            f"upper bound  {high:.4f} ± {high_error:.4f}  mean log-weight of reverse AIS",
            f"ESS          {estimate.ess:.0f} of {estimate.n_chains} chains",
            f"settings     {settings['n_temperatures']} steps, base: {settings['base']}, "
            f"seed {settings['rng']}",
        ]
        lines += [f"check        {'ok  ' if ok else 'FAIL'} {text}"
                  for text, ok in settings["checks"].items()]  # fmt: skip
    return "\n".join([*lines, f"seconds      {estimate.seconds:.1f}"])


def _data(options) -> int:
    print("RBMs:")
    for info in datasets.list_rbms():
        print(f"  {info.name:24} {info.n_visible} x {info.n_hidden:<5} {info.where}")
    print(f"published models are fetched into {datasets.cache_folder()}, or read from $RBMLIB_DATA")
    return 0


if __name__ == "__main__":
    warnings.simplefilter("always", ConvergenceWarning)
    sys.exit(main())
