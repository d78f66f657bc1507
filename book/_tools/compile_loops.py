"""Compile the loops that everybody needs, once after an installation: `make setup` runs this.

    python book/_tools/compile_loops.py [--seconds 300]

What is compiled is kept beside the library, and is read from there in a moment afterwards. Loops of
few hidden units and of many are compiled at the same time, on a processor each. What fails, or
takes longer than that, is no error here: it is compiled when it is first called.
"""

import argparse
import subprocess
import sys
import time

HIDDEN = 12, 64  # units of a model of each kind
USE = """
import numpy as np, rbmlib as rl
from rbmlib.numerics import ChainStream
from rbmlib.sampling import sweep

n_hidden, quiet = int(sys.argv[1]), dict(rng=0, progress=False)
rbm = rl.testsystems.random_rbm(n_visible=40, n_hidden=n_hidden, rng=0)
path, betas = rl.GeometricPath(rbm, base=np.zeros(40)), rl.schedules.linear(4)
estimate = rl.ais(path, betas, 1, **quiet)
sweep(path, estimate.states, 1.0, 1, ChainStream(0, 1))
rl.rts(path, betas, 4, 40, **quiet)
rl.train(np.tile(np.eye(40), (3, 1)), n_hidden, n_updates=2, **quiet)
"""


def compiled(started: float, seconds: float) -> bool:
    """Whether all of it was compiled in so many seconds."""
    program = [sys.executable, "-W", "ignore", "-c", "import sys" + USE]
    running = [subprocess.Popen([*program, str(n)], stderr=subprocess.DEVNULL) for n in HIDDEN]
    try:
        return not any([one.wait(max(0, started + seconds - time.monotonic())) for one in running])
    except subprocess.TimeoutExpired:
        return False
    finally:
        for one in running:
            one.kill()
            one.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="at most")
    started = time.monotonic()
    print("compiling loops for this processor, once (about half a minute)", flush=True)
    if not compiled(started, parser.parse_args().seconds):
        print("note: not all loops were compiled; each will be when it is first called")


if __name__ == "__main__":
    main()
