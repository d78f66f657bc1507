"""Write the sweep `compare` of book/scales: what each recipe can do within a budget here.

    RBMLIB_NUM_THREADS=1 python book/_tools/budgets.py measured.json [--measure h20 h500 ...]

`--measure` times each recipe at a few sizes and adds the processor seconds to measured.json.
Then sizes are read off the line through the last two, and the declaration is written: repeats
one after the other, so that a sweep that is stopped has as many of each recipe.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import rbmlib as rl
from rbmbook.experiments import compare
from rbmbook.sweeps.words import BASES

TARGET = Path(__file__).parents[1] / "scales" / "compare.yaml"
ABOUT = """\
compare:
  about: >
    Every estimator with about the same processor seconds (``budget``), of which ``size`` is what
    a trial run on one core of an AMD EPYC says (book/_tools/budgets.py). Where the pilots alone
    cost more than the budget there is no task.
  grids:
"""
FIRST = dict.fromkeys(compare.RECIPES, 100) | dict.fromkeys(("AIS, linear", "AIS", "BAR"), 2000) | {
    "Wang-Landau": 400, "parallel tempering": 20, "log_z": 2000, "SMC": 2000, "NRPT": 50,
}  # fmt: skip
ANNEALED, MIXED = ("AIS, linear", "AIS", "BAR", "SMC"), ("RTS", "MBAR", "TI", "SAMS", "Wang-Landau")
ROOM = 0.8  # of the budget: what the pilots may cost


def base_of(model: str) -> str:
    return "dna base rate" if model.startswith("dna") else "base rate"


def measure(model: str, known: dict) -> None:
    """Processor seconds at growing sizes, of the recipes that are not known yet."""
    rbm = rl.load_rbm(model)
    path = rl.GeometricPath(rbm, base=BASES[base_of(model)](rbm))
    for method in compare.RECIPES:
        key, size, points = f"{model}/{method}", FIRST[method], []
        if key in known:
            continue
        compare.timed(rbm, path, 0, method, size)  # compiles
        while len(points) < 2 or (points[-1][1] < 0.6 and points[-1][1] < 2 * points[0][1]):
            points.append((size, compare.timed(rbm, path, 1, method, size)[1]))
            size *= 4
            if method.startswith("TAP"):
                break
        known[key] = points
        print(time.strftime("%H:%M:%S"), key, points, flush=True)


def size_for(points: list, budget: float) -> int:
    """0 where the pilots leave no room."""
    (low, t_low), (high, t_high) = points[-2:]
    price = max((t_high - t_low) / (high - low), 0.2 * t_high / high)
    fixed = max(t_high - price * high, 0.0)
    if fixed > ROOM * budget:
        return 0
    size = (budget - fixed) / price
    return int(float(f"{size:.2g}"))


def tasks(known: dict, plan: list[dict]) -> list[str]:
    """Grids of the declaration, in the order in which they are to run."""
    lines = []
    for part in plan:
        seeds = f"{{first: {part['first']}, count: {part['count']}}}"
        for model in part["models"]:
            for method in part["methods"]:
                points = known.get(f"{model}/{method}")
                if points is None:
                    continue
                size = 1 if method.startswith("TAP") else size_for(points, part["budget"])
                if size:
                    lines.append(
                        f"    - {{model: {model}, base: {base_of(model)}, estimator: at a budget, "
                        f'method: "{method}",\n       budget: {part["budget"]:.1f}, size: {size}, '
                        f"seed: {seeds}}}\n"
                    )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("known", type=Path)
    parser.add_argument("--plan", type=Path, help="JSON: budgets, models, methods, seeds in order")
    parser.add_argument("--measure", nargs="*", default=[])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known = json.loads(options.known.read_text()) if options.known.exists() else {}
    for model in options.measure:
        measure(model, known)
        options.known.write_text(json.dumps(known, indent=1))
    if options.plan:
        lines = tasks(known, json.loads(options.plan.read_text()))
        others = TARGET.read_text().partition("\ncompare_phases:")[1:]
        TARGET.write_text(ABOUT + "".join(lines) + "".join(others))


if __name__ == "__main__":
    main()
