"""Train the RBMs of `data/models` on MNIST or DNA: python data/train_models.py [NAME ...]

Each model is written as NAME.npz (float32), and its settings, what was monitored and the seconds
into models.json. The same seed gives the same bytes on any processor (spectral steps apart);
the seconds differ.
"""

import json
import sys
from pathlib import Path

import numpy as np

import rbmbook  # noqa: F401 - the method "spectral"
import rbmlib as rl
from rbmlib import datasets

FOLDER = Path(__file__).parent / "models"

# 20 hidden units, fixed learning rate, 250,000 updates: Kiwaki (2015), section 7.1, which leaves
# the rate and the batch open; 100 rows a batch here.
MODELS = {
    "cd1_20": dict(n_hidden=20, method="cd", n_sweeps=1, n_updates=250_000, learning_rate=0.05),
    "cd25_20": dict(n_hidden=20, method="cd", n_sweeps=25, n_updates=250_000, learning_rate=0.05),
    "pcd_20": dict(n_hidden=20, method="pcd", n_sweeps=1, n_updates=250_000, learning_rate=0.02),
    # 500 hidden units: rate, epochs and decay are left open too (section 7.2).
    "pcd_500": dict(
        n_hidden=500, method="pcd", n_sweeps=1, n_updates=60_000, learning_rate=0.02,
        falling=True, weight_decay=1e-4,
    ),
    "cd1_500": dict(
        n_hidden=500, method="cd", n_sweeps=1, n_updates=60_000, learning_rate=0.05,
        falling=True, weight_decay=1e-4,
    ),
    "cd25_500": dict(
        n_hidden=500, method="cd", n_sweeps=25, n_updates=20_000, learning_rate=0.05,
        falling=True, weight_decay=1e-4,
    ),
    # Carlson et al. (2016), Figures 1 and 8, say no more than the number of units.
    "pcd_10": dict(n_hidden=10, method="pcd", n_sweeps=1, n_updates=250_000, learning_rate=0.02),
    "pcd_200": dict(
        n_hidden=200, method="pcd", n_sweeps=1, n_updates=40_000, learning_rate=0.02,
        falling=True, weight_decay=1e-4,
    ),
    # Figure 3: by the method of Carlson et al. (2015); step, batch and length are left open there.
    "spectral_100": dict(
        n_hidden=100, method="spectral", n_sweeps=1, n_updates=10_000, learning_rate=5e-5,
        falling=True,
    ),
    # Where tempered training begins (Carlson et al. 2016, section 4.4, leaves this CD-1 open).
    "dna_cd1_500": dict(n_hidden=500, method="cd", n_sweeps=1, n_updates=1000, learning_rate=0.05),
}  # fmt: skip

MNIST = "MNIST train, thresholded at 127"
DATA = {"dna_cd1_500": "DNA train, first 1,400 rows"}


def rows_of(name: str):
    return datasets.load_dna().train[:1400] if name in DATA else datasets.load_mnist().train


def keep(name: str, record: dict) -> None:
    """In models.json, a line a model."""
    file = FOLDER / "models.json"
    every = json.loads(file.read_text()) | {name: record}
    lines = [f"{json.dumps(one)}: {json.dumps(every[one])}" for one in sorted(every)]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main(names) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        options = dict(MODELS[name])
        rate, last = options["learning_rate"], options["learning_rate"]
        if options.pop("falling", False):
            last = 0.0
            options["learning_rate"] = np.linspace(rate, last, options["n_updates"])
        result = rl.train(rows_of(name), **options, batch_size=100, rng=0)
        result.rbm.save(FOLDER / f"{name}.npz", dtype=np.float32)
        record = {
            "settings": result.settings
            | {"learning_rate": rate, "final_learning_rate": last, "data": DATA.get(name, MNIST)},
            "history": {key: values.tolist() for key, values in result.history.items()},
            "seconds": round(result.seconds, 1),
        }
        keep(name, record)
        print(name, {key: values[-1] for key, values in result.history.items()}, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or MODELS)
