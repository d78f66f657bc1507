"""Train the models of Table 3 of Li et al. (2016): python data/train_cifar10.py [NAME ...]

All 50,000 training images, standardised pixel by pixel. Needs the whole of CIFAR-10
(`rbmbook.images.load_cifar10(full=True)` says where from). Each model is written to
`data/models` as NAME.npz (float32), and its settings, what was monitored and the seconds (a quarter
of an hour or two) into models.json. BLAS differs from processor to processor, so a model trained
elsewhere is as good, but not the same bytes.
"""

import sys
import time
from pathlib import Path

import numpy as np
from train_models import keep

from rbmbook.images import cifar10_scale, load_cifar10
from rbmbook.paths import bracket_log_z
from rbmbook.training import train_gaussian

FOLDER = Path(__file__).parent / "models"
N_EPOCHS, EPOCH = 8, 500  # updates of 100 images

# Li et al., section 4.2: 500 hidden units, CD-20, momentum 0.9, batches of 100, W ~ U(0, 0.01).
# Rates: the best constant ones of the sweep leaky_tuning. They were the best of short runs,
# so here they fall to zero.
MODELS = {"leaky_cifar10": "leaky", "gaussian_cifar10": "bernoulli"}
RATE = 1e-3


def likelihoods(rbm) -> dict[str, float]:
    """Both ends of the mean log p of the committed subset: to be looked at, nothing follows."""
    subset, scale = load_cifar10(), cifar10_scale()
    images = {"train": scale(subset.train), "test": scale(subset.test)}
    below, above = bracket_log_z(rbm, images["train"][:200], rng=0)
    seen = {"processor_seconds": time.process_time()}
    for part, rows in images.items():
        log_p = float(rbm.log_density(rows).mean())
        seen |= {f"{part}_low": log_p - above.mean_log_z, f"{part}_high": log_p - below.mean_log_z}
    return seen


def main(names) -> None:
    n_updates = N_EPOCHS * EPOCH
    data = cifar10_scale()(load_cifar10(full=True).train)
    for name in names:
        result = train_gaussian(
            data, 500, hidden=MODELS[name], n_updates=n_updates, rng=0,
            learning_rate=np.linspace(RATE, 0, n_updates), monitor_every=2 * EPOCH,
            monitor=likelihoods,
        )  # fmt: skip
        result.rbm.save(FOLDER / f"{name}.npz", dtype="float32")
        record = {
            "settings": result.settings
            | {"learning_rate": RATE, "final_learning_rate": 0.0}
            | {"data": "CIFAR-10 train, standardised by pixel"},
            "history": {key: values.tolist() for key, values in result.history.items()},
            "seconds": round(result.seconds, 1),
        }
        keep(name, record)
        print(name, {key: values[-1] for key, values in result.history.items()}, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or MODELS)
