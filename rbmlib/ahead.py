"""Compile ahead what is else compiled when it is first called: ``python -m rbmlib compile``.

What is compiled is kept beside the library, and read from there in a moment afterwards: a line for
the image of a container, or the first job on a cluster. Loops of few hidden units and of many are
compiled at the same time, a process each.
"""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
from numba.core import event

from . import context, schedules
from .automatic.log_z import log_z
from .estimators.ais import ais
from .estimators.rts import rts
from .estimators.sams import sams
from .models import testsystems
from .numerics import ChainStream
from .paths import GeometricPath
from .sampling import sweep
from .training import train

HIDDEN = 12, 64  # units of a model of each kind
N_LOOPS = 330  # that are compiled, about: for the bar


def use(n_hidden: int) -> None:
    """Call what most people call, on a small model."""
    rbm = testsystems.random_rbm(n_visible=40, n_hidden=n_hidden, rng=0)
    path, betas = GeometricPath(rbm, base=np.zeros(40)), schedules.linear(4)
    estimate = ais(path, betas, 1, rng=0)
    sweep(path, estimate.states, 1.0, 1, ChainStream(0, 1))
    rts(path, betas, 4, 40, rng=0)
    sams(path, betas, 10, 40, rng=0)
    log_z(rbm, n_steps=10, n_chains=20, rng=0, enumerate_small=False)
    train(np.tile(np.eye(40), (3, 1)), n_hidden, n_updates=2, rng=0)


class Ends(event.Listener):
    """Prints a line a loop that has been compiled."""

    def on_start(self, event) -> None:
        """The end is enough."""

    def on_end(self, event) -> None:
        print(flush=True)


def compile_loops() -> bool:
    """Compile them, with progress; whether all was compiled."""
    running = [
        subprocess.Popen([sys.executable, "-m", __name__, str(n)], stdout=subprocess.PIPE)
        for n in HIDDEN
    ]
    try:
        with context.using(progress=True), context.bar(N_LOOPS, "compiling") as shown:
            for one in running:
                for _ in one.stdout or ():
                    shown.update(1)
        return not any([one.wait() for one in running])
    finally:
        for one in running:
            one.kill()
            one.wait()


if __name__ == "__main__":
    with warnings.catch_warnings(), event.install_listener("numba:compile", Ends()):
        warnings.simplefilter("ignore")
        with context.using(progress=False):
            use(int(sys.argv[1]))
