"""Make data/bench: models whose log Z is known, in files that any program can read.

    python data/make_bench.py                          # the 200 models of data/bench
    python data/make_bench.py --seed 7 --out held_out  # as many others, on which nothing was tuned

``models.zip`` holds an .npz a model, with the arrays ``weights`` (n_visible, n_hidden),
``visible_bias`` and ``hidden_bias``: log p*(v, h) = v' W h + b' v + a' h, natural logarithms. Units
are bits, or groups of q columns of which one is 1 (``units`` in the index). ``index.csv`` has a row
a model, with log Z of these arrays, ``families.csv`` a row a family. The same seed gives the same
models; log Z is enumerated over the smaller layer, summed over counts of equal units, or the sum of
parts that do not touch.
"""

import argparse
import csv
import hashlib
import io
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import numpy as np
from bench_models import MODELS, disguised_rbm

from rbmlib import BernoulliRBM
from rbmlib.models.formats import arrays_of

OUT, SEED, EACH = Path(__file__).parent / "bench", 0, 8
FIRST = 70_000_000  # the seeds of the book's counts of trusted runs lie below it
COUNTED = {"mean field", "first order", "potts"}
FAMILIES = {
    "random": ("in many states or in few, depending on the size of the weights", "little"),
    "frustrated": ("many states of nearly the same energy", "chains that stay in some"),
    "ferromagnet": ("two opposite states of unequal weight", "annealing into the lighter state"),
    "hopfield": ("patterns of unequal depth and their opposites", "patterns that no chain enters"),
    "pocket": ("20% to 95% where one or two hidden units are on", "no path of states leads there"),
    "sparse": ("few strong weights for each hidden unit", "slow moves of single units"),
    "unequal": ("weights whose scales differ by orders of magnitude", "one size of steps for all"),
    "degenerate": ("orthogonal patterns of equal depth", "patterns that no chain enters"),
    "tall": ("as random, with one layer ten times the other", "summing over the wrong layer"),
    "idle": ("as others, with units without weights", "bases that ignore the biases of such units"),
    "masked": ("as others, with units that a bias holds in one state", "base rates of 0 or 1"),
    "trained": ("prototypes of unequal frequency", "missed rare prototypes"),
    "union": ("independent parts, two to four models of other families", "misses in several parts"),
    "union of pockets": ("as union, with a pocket in each part", "each pocket missed separately"),
    "mean field": ("up to 1,000 equally coupled spins in a field", "a missed sign or a transition"),
    "random field": ("the same, with a random field on each spin", "a missed sign"),
    "first order": ("all on or all off, with nothing between", "a transition in beta"),
    "spike in slab": ("20% to 95% in a single visible state", "no chain finds this state"),
    "golf": ("three to six such states on flat ground", "no chain finds these states"),
    "glass": ("couplings of plus or minus one at a low temperature", "chains that freeze"),
    "large weights": ("trained by CD at a rate that is too high", "modes that chains never leave"),
    "wide modes": ("patterns of hundreds of units, just strong enough to be stable", "flat modes"),
    "parities": ("a planted solution of equations modulo 2", "all chains are led to a decoy"),
    "large biases": ("as random, with biases of 5 to 30", "underflow; a base far from the model"),
    "potts": ("all sites of one colour, or none: a first-order transition", "one side is missed"),
}  # fmt: skip


def made(family: str, seed: int):
    """A model without log_scale, its log Z, and how that is known."""
    rng = np.random.default_rng(seed)
    rbm, log_z = MODELS[family](rng)
    if family != "potts":
        rbm = disguised_rbm(rbm, rng)
    summed = family in COUNTED
    known = "sum over counts" if summed else "sum of parts" if "union" in family else "enumeration"
    return rbm.with_(log_scale=0.0), log_z - rbm.log_scale, known


def write(out: Path, seed: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    rows, started = [], FIRST + EACH * len(FAMILIES) * seed
    models = ZipFile(out / "models.zip", "w")
    for number, family in enumerate(FAMILIES):
        for k in range(EACH):
            rbm, log_z, known = made(family, started + EACH * number + k)
            name = f"{family.replace(' ', '_')}_{k}"
            arrays = {n: getattr(rbm, n) for n in ("weights", "visible_bias", "hidden_bias")}
            if not isinstance(rbm, BernoulliRBM):  # the kinds of its units, for this library
                arrays = arrays_of(rbm, float)
            held = io.BytesIO()
            np.savez_compressed(held, **arrays)
            models.writestr(ZipInfo(f"{name}.npz"), held.getvalue())
            digest = hashlib.sha256(held.getvalue()).hexdigest()
            q = getattr(rbm.visible, "q", None)
            rows.append({
                "name": name, "family": family, "units": f"categories of {q}" if q else "bits",
                "n_visible": rbm.n_visible, "n_hidden": rbm.n_hidden, "log_z": f"{log_z:.10f}",
                "known_by": known, "sha256": digest,
            })  # fmt: skip
        print(f"{family}: {EACH} models", flush=True)
    models.close()
    of_families = [
        {"family": name, "where the mass lies": mass, "what breaks": breaks}
        for name, (mass, breaks) in FAMILIES.items()
    ]
    for name, held in (("index", rows), ("families", of_families)):
        with open(out / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*held[0]], lineterminator="\n")
            writer.writeheader()
            writer.writerows(held)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=SEED, help="0: the models of data/bench")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    write(given.out, given.seed)
