"""Ctrl-C before the command line has begun: one line instead of the traceback of an import.

Python imports a package before its ``__main__``, and NumPy, SciPy and numba with it: a second or
more in which no line of ``__main__`` can catch anything. The package therefore calls
`quiet_start` first of all, which does something only in a Python that was started for the command
line, as ``python -m rbmlib`` or as ``rbmlib``.
"""

from __future__ import annotations

import os
import signal
import sys

STOPPED = 128 + signal.SIGINT  # the exit code
SAID = "stopped: nothing was written"


def quiet_start() -> None:
    """Until `end_of_start` Ctrl-C ends the command line at once, whatever is being imported."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual and _is_command_line(sys.argv, sys.orig_argv):
        signal.signal(signal.SIGINT, _leave)


def end_of_start() -> None:
    """From here on Ctrl-C is a KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_command_line(arguments: list[str], words: list[str]) -> bool:
    """By what stands before the arguments in the words with which Python was started.

    Python calls the program "-m" while it imports the package of what it will run. A process that
    another one started has the arguments of that one, and words of its own.
    """
    program = words[-len(arguments)] if 0 < len(arguments) <= len(words) else ""
    if not program or arguments[0] not in ("-m", program):
        return False
    name = os.path.splitext(os.path.basename(program))[0]
    return name == "rbmlib" or (arguments[0] == "-m" and name == "-mrbmlib")


def _leave(*_) -> None:
    try:  # not by print, which may have been interrupted itself
        os.write(2, f"{SAID}\n".encode())
    finally:
        os._exit(STOPPED)
