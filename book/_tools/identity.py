"""Is the compiled loop the same sampler? Mean log-weights against plain NumPy in float64.

    python book/_tools/identity.py [--runs 5] [--chains 2000] [--steps 25]

Fresh seeds on both sides, so the difference of the means should be within a few standard errors:
on a whole path of coarse steps, and on the first steps of a fine one, where increments are series.
Writes data/results/speed_identity.csv, which the page on scaling shows.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from baselines import numpy_annealing
from tqdm import tqdm

import rbmlib as rl
from rbmlib.numerics import ChainStream

TARGET = Path(__file__).parents[2] / "data" / "results" / "speed_identity.csv"
MODELS = ("pcd_20", "pcd_500")


def run_pair(path, betas, n_chains: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-weights of both loops, each from its own draws of the base."""
    rng = np.random.default_rng([seed, 1])
    v = path.sample_base(n_chains, rng).visible
    reference = numpy_annealing(path.rbm, path.base_visible_bias, betas, v, [seed, 2])
    stream = ChainStream(seed, n_chains)
    _, compiled = path.anneal(path.sample_base(n_chains, stream), betas, stream)
    return reference, compiled


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("runs", 5), ("chains", 2000), ("steps", 25)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    pieces = {
        "whole path": np.linspace(0, 1, options.steps + 1),
        "fine steps": 1e-4 * np.arange(options.steps + 1),
    }
    rows = []
    with tqdm(total=len(MODELS) * len(pieces) * options.runs, disable=None) as bar:
        for model in MODELS:
            base = rl.base_rate(rl.datasets.load_mnist().train)
            path = rl.GeometricPath(rl.load_rbm(model), base=base)
            for piece, betas in pieces.items():
                sums = []
                for seed in range(options.runs):
                    pair = run_pair(path, betas, options.chains, seed)
                    sums.append([[x.mean(), x.var(ddof=1)] for x in pair])
                    bar.update(1)
                means, variances = np.moveaxis(np.array(sums), 2, 0).mean(axis=1)
                error = np.sqrt(variances.sum() / (options.runs * options.chains))
                difference = means[1] - means[0]
                rows.append((model, piece, *means, difference, error, difference / error))
    columns = ["model", "steps", "NumPy float64", "rbmlib", "difference", "s.e.", "in s.e."]
    table = pd.DataFrame(rows, columns=columns)
    print(table.to_string(index=False))
    table.to_csv(TARGET, index=False, float_format="%.6g")
    if (table["in s.e."].abs() > 3).any():
        raise SystemExit("error: the two loops differ by more than 3 standard errors")


if __name__ == "__main__":
    main()
