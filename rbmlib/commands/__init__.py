"""Commands, one a file: `add_to` gives one to the command line, `run` does it."""

from __future__ import annotations

import os
import sys


def say(text: str) -> None:
    """Print at once: Python would tell of errors when it ends, with a traceback."""
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python will try again
        raise OSError(error.errno, error.strerror, "standard output") from None
