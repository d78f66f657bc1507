"""Command line: ``python -m rbmlib logz MODEL`` and ``data``.

The parser and the dispatch: a command is a file of `rbmlib.commands`, imported when it is asked
for.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from importlib import import_module

from . import __version__
from ._interrupts import SAID, STOPPED, end_of_start


def main(arguments=None) -> int:
    try:
        given = sys.argv[1:] if arguments is None else arguments
        if [*given][:1] == ["run"]:
            raise ValueError(
                "rbmlib computes no tables: type python -m rbmbook run SWEEP.yaml, in the "
                "environment of the book"
            )
        options = _parser().parse_args(given)
        command = import_module(f".commands.{options.command}", __package__)
        end_of_start()
        warnings.showwarning = _show_warning
        return command.run(options)
    except BrokenPipeError:  # whoever read the output has seen enough
        return 128 + signal.SIGPIPE
    except MemoryError as error:
        print(f"error: not enough memory: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except (ValueError, TypeError, OSError, RuntimeError, ArithmeticError, ImportError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(SAID, file=sys.stderr)
        return STOPPED


def _show_warning(message, *_, **__) -> None:
    print(f"warning: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    from .automatic.log_z import BUDGET_SECONDS
    from .models.names import LAYOUTS

    parser = argparse.ArgumentParser(
        prog="python -m rbmlib",
        allow_abbrev=False,
        description="Partition functions of restricted Boltzmann machines.",
    )
    parser.add_argument("--version", action="version", version=f"rbmlib {__version__}")
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", dest="command"
    )

    logz = commands.add_parser(
        "logz",
        allow_abbrev=False,  # a misspelt option is refused, not guessed
        help="estimate log Z of a model, with bounds",
        description="Estimate log Z (nats) of a Bernoulli RBM from below and from above. "
        "The same --steps, --chains and --seed give the same digits; with --budget they are "
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
    logz.add_argument(
        "--chains", type=int, metavar="N", help="of each run, with --steps (default: 500)"
    )
    logz.add_argument("--seed", type=int, default=0, help="default: 0")
    logz.add_argument("--threads", type=int, metavar="N", help="default: all")
    logz.add_argument(
        "--estimate", action="store_true", help="estimate also where enumeration is possible"
    )
    logz.add_argument("--json", action="store_true", help="print one JSON object")
    logz.add_argument("--save", metavar="FILE", help="save the whole estimate as JSON")

    commands.add_parser("data", help="list data sets and models, and where they are")
    return parser


if __name__ == "__main__":
    from .results import ConvergenceWarning

    warnings.simplefilter("always", ConvergenceWarning)
    code = main()
    if code == STOPPED:  # nothing is left to be closed that is worth waiting for
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
