"""Command line: ``python -m rbmlib logz MODEL`` and ``data``."""

from __future__ import annotations

import argparse
import signal
import sys
import warnings

from . import __version__, commands, interrupt
from .results import ConvergenceWarning

MOVED = {"run": "sweeps are of the book, in a checkout: python -m rbmbook run SWEEP.yaml"}
ERRORS = (ValueError, TypeError, OSError, RuntimeError, ArithmeticError, ImportError)


def main(arguments=None) -> int:
    if signal.getsignal(signal.SIGINT) is interrupt.stop:  # all is imported
        signal.signal(signal.SIGINT, signal.default_int_handler)
    words = sys.argv[1:] if arguments is None else list(arguments)
    with warnings.catch_warnings():
        warnings.showwarning = _say_warning
        try:
            if words and words[0] in MOVED:
                raise ValueError(f"{words[0]} is no command of rbmlib: {MOVED[words[0]]}")
            options = _parser().parse_args(words)
            return options.run(options)
        except BrokenPipeError:  # whoever read the output has seen enough
            return 128 + signal.SIGPIPE
        except MemoryError as error:
            return _say_error(f"not enough memory: {error}")
        except ERRORS as error:
            return _say_error(error)
        except KeyboardInterrupt:
            print(interrupt.WORDS, file=sys.stderr)
            return interrupt.STOPPED


def _say_error(error) -> int:
    print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
    return 2


def _say_warning(message, *_, **__) -> None:
    print(f"warning: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rbmlib",
        allow_abbrev=False,
        description="Partition functions of restricted Boltzmann machines.",
    )
    parser.add_argument("--version", action="version", version=f"rbmlib {__version__}")
    commands.add_to(parser.add_subparsers(title="commands", required=True, metavar="COMMAND"))
    return parser


if __name__ == "__main__":
    warnings.simplefilter("always", ConvergenceWarning)
    sys.exit(main())
