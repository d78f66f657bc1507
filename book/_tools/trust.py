"""How far `rl.log_z` can be trusted: hard models of fresh seeds, with known log Z.

    python book/_tools/trust.py [--seeds 36] [--budget 10] [--part 0 --parts 1]

Adds to data/results/log_z_trust.csv what is missing there, a row a run: each model with the bases
about modes that `log_z` seeks, and without them ("alone"). Rows name the seed, the steps and the
chains, which give the same bits again. The budget is in seconds of one processor, whatever else the
machine does. Seeds below `FIRST` are free for whoever designs; those from there on are for this
count alone. `--summary` prints what the rows say.
"""

import argparse
import csv
import fcntl
import importlib
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.stats import genpareto

import rbmlib as rl
from rbmbook.hard_systems import HARD_KINDS, hard_rbm
from rbmlib.search.modes import Modes

RESULTS = Path(__file__).parents[2] / "data" / "results"
TARGET = RESULTS / "log_z_trust.csv"
FIRST = 20_000
FIELDS = [
    "kind", "seed", "method", "n_visible", "n_hidden", "exact", "log_z", "std_error", "low", "high",
    "trusted", "verdict", "n_steps", "n_chains", "n_parts", "missing", "ess", "pareto_k",
    "first_log_z", "first_error", "second_log_z", "second_error", "reverse_log_z", "reverse_error",
    "seconds", "failed",
]  # fmt: skip
NATS, ERRORS = 0.5, 4.0  # a trusted value that is further off is a false assurance


def model(kind: str, seed: int):
    """Of a seed and a kind, each with random numbers of its own."""
    kinds = list(HARD_KINDS)
    return hard_rbm(kind, np.random.default_rng([kinds.index(kind), seed]))


def alone():
    """Make `log_z` seek no modes."""
    from rbmlib.automatic import rounds
    from rbmlib.automatic.cover import Cover

    nothing = Modes(*(np.empty((0, 0)),) * 2, np.array([-np.inf]), np.array([-np.inf]))
    rounds.first_base = lambda rbm, fitted, *_: fitted
    rounds.find_modes = lambda rbm, data=None: nothing
    rounds.cover = lambda rbm, first, second, modes, n, *_: Cover.whole(first, second, n)


def by_processor():
    """Make budgets count what one processor did for this process."""
    clock = SimpleNamespace(perf_counter=time.process_time)
    for name in ("automatic.log_z", "automatic.rounds", "estimators"):
        importlib.import_module(f"rbmlib.{name}").time = clock


def pareto_k(log_weights) -> float:
    """Shape of a generalised Pareto distribution fitted to the largest weights (PSIS)."""
    weights = np.sort(np.exp(log_weights - np.max(log_weights)))
    n = int(min(0.2 * weights.size, 3 * np.sqrt(weights.size)))
    tail = weights[-n:] - weights[-n - 1]
    return float(genpareto.fit(tail, floc=0)[0]) if np.ptp(tail) > 0 else float("nan")


def row(kind: str, seed: int, method: str, budget: float) -> dict:
    rbm, exact, _ = model(kind, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = rl.log_z(
            rbm, budget_seconds=budget, rng=seed, enumerate_small=False,
        )  # fmt: skip
    settings, details = run.settings, run.details
    found = {
        "kind": kind, "seed": seed, "method": method, "n_visible": rbm.n_visible,
        "n_hidden": rbm.n_hidden, "exact": exact, "log_z": run.log_z, "std_error": run.std_error,
        "low": run.interval[0], "high": run.interval[1], "trusted": int(run.converged),
        "verdict": details["verdict"].partition(":")[0], "n_steps": settings["n_steps"],
        "n_chains": settings["n_chains"], "n_parts": details["n_parts"],
        "missing": details["missing"], "ess": run.ess, "pareto_k": pareto_k(run.log_weights),
        "seconds": round(run.seconds, 2),
        "failed": "|".join(str(check) for check in run.checks if not check.passed),
    }  # fmt: skip
    for name, key in (("first", "first_base"), ("second", "second_base"), ("reverse", "reverse")):
        found[f"{name}_log_z"], found[f"{name}_error"] = details[key]
    return {name: f"{x:.8g}" if isinstance(x, float) else x for name, x in found.items()}


def rows(target: Path = TARGET) -> list[dict]:
    if not target.exists():
        return []
    with target.open(newline="") as file:
        return list(csv.DictReader(file))


def add(found: dict, target: Path = TARGET, fields=FIELDS) -> None:
    """Whole rows, also where several processes write."""
    with target.open("a", newline="") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        writer.writerow(found)


def summary(table: list[dict]) -> None:
    """False assurances and alarms of each way to judge a run."""

    def number(row, name):
        return float(row[name])

    def off(row, value, error):
        gap = abs(number(row, value) - number(row, "exact"))
        return gap > NATS or gap > ERRORS * number(row, error)

    def line(name, group, trust, value, error, inside=None):
        trusted = [r for r in group if trust(r)]
        wrong = [r for r in trusted if off(r, value, error)]
        far = [r for r in wrong if abs(number(r, value) - number(r, "exact")) > NATS]
        alarms = [r for r in group if not trust(r)
                  and abs(number(r, value) - number(r, "exact")) < 0.1]  # fmt: skip
        covered = ""
        if inside is not None:
            covered = f", intervals of the trusted cover {sum(map(inside, trusted))}"
        print(f"{name:42} {len(group)} models, {len(trusted)} trusted, false assurances "
              f"{len(wrong)} ({len(far)} by more than {NATS} nats), flagged although within "
              f"0.1 nats {len(alarms)}{covered}")  # fmt: skip

    def inside(r):
        return number(r, "low") <= number(r, "exact") <= number(r, "high")

    for method in ("covered", "alone"):
        group = [r for r in table if r["method"] == method]
        line(f"log_z, {method}", group, lambda r: r["trusted"] == "1", "log_z", "std_error", inside)
    plain = [r for r in table if r["method"] == "alone"]
    judges = {
        "ESS of 100 or more": lambda r: number(r, "ess") >= 100,
        "Pareto k below 0.7": lambda r: not number(r, "pareto_k") >= 0.7,
        "standard error below 0.1": lambda r: number(r, "first_error") < 0.1,
        "forward and reverse within 4 s.e.": lambda r: abs(
            number(r, "reverse_log_z") - number(r, "first_log_z")
        ) < 4 * np.hypot(number(r, "reverse_error"), number(r, "first_error")),
    }  # fmt: skip
    for name, judge in judges.items():
        line(f"plain AIS, {name}", plain, judge, "first_log_z", "first_error")
    power([r for r in table if r["method"] == "covered"], number)


def power(group: list[dict], number) -> None:
    """How often each check of `log_z` failed, and how often no other did."""
    failed = [{text.partition(" (")[0] for text in r["failed"].split("|")} for r in group]
    for name in sorted(set().union(*failed) - {""}):
        fired = [r for r, names in zip(group, failed, strict=True) if name in names]
        alone = [r for r, names in zip(group, failed, strict=True) if names == {name}]
        counts = [sum(abs(number(r, "log_z") - number(r, "exact")) > 0.1 for r in rows)
                  for rows in (fired, alone)]  # fmt: skip
        print(f"{name:60} failed {len(fired)} ({counts[0]} off by more than 0.1 nats), "
              f"alone {len(alone)} ({counts[1]})")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=36, help="of each kind")
    parser.add_argument("--budget", type=float, default=10.0, help="seconds of a run")
    parser.add_argument("--method", choices=["covered", "alone"], default="covered")
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    if options.summary:
        return summary(rows())
    by_processor()
    if options.method == "alone":
        alone()
    todo = [(kind, seed) for seed in range(FIRST, FIRST + options.seeds)
            for kind in HARD_KINDS]  # fmt: skip
    for kind, seed in todo[options.part :: options.parts]:
        done = {(r["kind"], int(r["seed"]), r["method"]) for r in rows()}
        if (kind, seed, options.method) not in done:
            add(row(kind, seed, options.method, options.budget))


if __name__ == "__main__":
    main()
