"""Ctrl-C while the command line imports the library, which takes a second: one line, no traceback.

`python -m rbmlib` imports the package before any line of its own, so the package begins with this.
A program that imports the library keeps its own way with interrupts.
"""

import os
import signal
import sys

# Before NumPy loads OpenBLAS: its threads that wait spin for 2**26 cycles, on cores of others too.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "18")
STOPPED, WORDS = 128 + signal.SIGINT, "stopped: nothing was written"


def by_command_line() -> bool:
    """Whether this process was started as ``python -m rbmlib`` or as ``rbmlib``."""
    program = os.path.basename(sys.argv[0]) if sys.argv else ""
    module = sys.orig_argv[sys.orig_argv.index("-m") + 1 :][:1] if program == "-m" else []
    return module == ["rbmlib"] or program in ("rbmlib", "rbmlib.exe")


def stop(*_) -> None:
    os.write(2, f"{WORDS}\n".encode())
    os._exit(STOPPED)


if by_command_line() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, stop)
