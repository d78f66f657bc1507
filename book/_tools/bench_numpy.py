"""Plain annealed importance sampling in NumPy on data/bench, as most people write it.

    python book/_tools/bench_numpy.py answers.csv          # some minutes; models of bits only

From the uniform distribution, 100 chains, 1,000 betas at equal distances (Salakhutdinov and Murray
2008). It has an error bar, and nothing that would doubt it: every answer is trusted.
"""

import csv
import itertools
import sys
import time
from pathlib import Path

import numpy as np

BENCH = Path(__file__).parents[2] / "data" / "bench"
N_CHAINS, N_STEPS = 100, 1000


def ais(w, b, a, rng):
    v = (rng.random((N_CHAINS, len(b))) < 0.5).astype(float)
    log_w, betas = np.full(N_CHAINS, (len(a) + len(b)) * np.log(2)), np.linspace(0, 1, N_STEPS + 1)
    for low, high in itertools.pairwise(betas):
        field = v @ w + a
        log_w += (high - low) * (v @ b) + np.logaddexp(0, high * field).sum(1)
        log_w -= np.logaddexp(0, low * field).sum(1)
        h = rng.random(field.shape) * (1 + np.exp(-high * field)) < 1
        v = (rng.random(v.shape) * (1 + np.exp(-high * (h @ w.T + b))) < 1).astype(float)
    ratio = np.exp(log_w - log_w.max())
    return np.log(ratio.mean()) + log_w.max(), ratio.std() / ratio.mean() / np.sqrt(N_CHAINS)


with open(sys.argv[1], "w", newline="", encoding="utf-8") as file, np.errstate(over="ignore"):
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["name", "log_z", "std_error", "trusted", "seconds"])
    for row in csv.DictReader((BENCH / "index.csv").open(encoding="utf-8")):
        started, parts = time.perf_counter(), np.load(BENCH / f"{row['name']}.npz")
        said = ["", "", False]
        if row["units"] == "bits":
            names = ("weights", "visible_bias", "hidden_bias")
            said = [*ais(*(parts[n] for n in names), np.random.default_rng(0)), True]
        out.writerow([row["name"], *said, round(time.perf_counter() - started, 2)])
