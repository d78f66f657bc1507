"""Make data/dreams.npz: what each model of images dreams, for the page of models.

    python data/make_dreams.py [seed]

Chains of annealed importance sampling end at the model; twelve are drawn in proportion to their
weights and go on for a thousand Gibbs sweeps. What is kept is the probability of each pixel given
the hidden units of the last sweep, in 255ths. The same seed gives the same file.
"""

import sys
from pathlib import Path

import numpy as np

import rbmlib as rl

OUTPUT = Path(__file__).parent / "dreams.npz"
N_IMAGES, N_CHAINS, N_STEPS, N_SWEEPS = 12, 500, 10_000, 1_000


def dreams(rbm, base, seed: int) -> np.ndarray:
    """Probabilities of pixels, (N_IMAGES, n_visible) uint8."""
    rng = np.random.default_rng(seed)
    path = rl.GeometricPath(rbm, base=base)
    with rl.using(independent_check=False):
        run = rl.ais(path, rl.schedules.linear(N_STEPS), N_CHAINS, rng=rng)
    weights = np.exp(run.log_weights - run.log_weights.max())
    at = (rng.random() + np.arange(N_IMAGES)) / N_IMAGES
    v = run.states[np.searchsorted(np.cumsum(weights / weights.sum()), at)].astype(float)
    for _ in range(N_SWEEPS):
        on = 1 / (1 + np.exp(-(v @ rbm.weights + rbm.hidden_bias)))
        h = (rng.random(on.shape) < on).astype(float)
        pixels = 1 / (1 + np.exp(-(h @ rbm.weights.T + rbm.visible_bias)))
        v = (rng.random(pixels.shape) < pixels).astype(float)
    return np.rint(255 * pixels).astype(np.uint8)


def main(seed: int = 0) -> None:
    base = rl.base_rate(rl.datasets.load_mnist().train)
    found = {}
    for info in rl.datasets.list_rbms():
        if info.n_visible == len(base):
            found[info.name] = dreams(rl.load_rbm(info.name), base, seed)
            print(info.name, flush=True)
    np.savez_compressed(OUTPUT, **found)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
