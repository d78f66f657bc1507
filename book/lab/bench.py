"""Judge a table of answers by any program on models with known log Z.

An answer is *trusted* if its program says so. A trusted answer is *wrong* (a false assurance) if
its error exceeds four of its own standard errors and 0.05 nats. *Coverage* is the share of trusted
answers within 1.96 of their standard errors. *Spread* is the root mean square of errors in units of
standard errors, which is 1 if error bars are right. Shares have 95% intervals (Clopper and Pearson
1934).
"""

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import ZipFile

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from rbmlib import RBM, datasets

from .tables import number

ERRORS, NATS = 4.0, 0.05
Z95 = 1.96
COLUMNS = ("name", "log_z", "std_error", "trusted")
COMMITTED = {
    "rl.log_z": "log_z", "rl.ais": "ais", "rl.rts": "rts", "rl.tap": "tap", "NumPy": "numpy",
    "scikit-learn": "scikit-learn", "rbms": "rbms",
}  # fmt: skip
HELD_OUT = {"rl.log_z": "held_out_log_z", "rl.ais": "held_out_ais"}
YES, NO = {"1", "true", "yes"}, {"0", "false", "no"}


class Score(NamedTuple):
    models: int
    trusted: int
    wrong: int
    covered: int
    spread: float
    median: float  # absolute error of trusted answers, nats


def read_index(file: Path | None = None) -> dict[str, tuple[str, float]]:
    """Family and log Z of each model by name; by default, of the models in data/bench."""
    path = datasets.committed("bench/index.csv") if file is None else Path(file)
    rows = _rows(path, ("name", "family", "log_z"))
    return {row.name: (row.family, float(row.log_z)) for row in rows.itertuples(index=False)}


def model(name: str, file: Path | None = None) -> RBM:
    """A model from an archive, by default that of data/bench."""
    archive = file or datasets.committed("bench/models.zip")
    with ZipFile(archive) as models, TemporaryDirectory() as folder:
        return RBM.load(models.extract(f"{name}.npz", folder))


def read_answers(file) -> pd.DataFrame:
    """A CSV with the columns name, log_z, std_error (may be empty) and trusted; rows by name."""
    table = _rows(Path(file), COLUMNS)
    words = table[["log_z", "std_error"]].apply(lambda column: column.str.strip())
    numbers = words.apply(pd.to_numeric, errors="coerce")
    trusted = table["trusted"].str.strip().str.lower()
    wrong = {
        "one row a model": table["name"].duplicated(),
        "trusted: true or false": ~trusted.isin(YES | NO),
        "numbers, or nothing": (numbers.isna() & ~words.isin(["", "nan"])).any(axis=1),
        "std_error: 0 or more, or nothing":
            (numbers["std_error"] < 0) | np.isinf(numbers["std_error"]),
    }  # fmt: skip
    for wanted, rows in wrong.items():
        if rows.any():
            line = rows.idxmax()
            found = ",".join(table.loc[line, list(COLUMNS)])
            raise ValueError(f"{file}, line {line + 2}: {found!r}: expected {wanted}")
    return numbers.assign(trusted=trusted.isin(YES)).set_index(table["name"])


def _rows(path: Path, columns) -> pd.DataFrame:
    if not Path(path).is_file():
        raise FileNotFoundError(f"no table {str(path)!r}: expected a CSV of {','.join(columns)}")
    table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    if missing := set(columns) - set(table):
        raise ValueError(f"{path}: expected columns {', '.join(sorted(missing))} as well")
    return table


def scores(answers: pd.DataFrame, index) -> dict[str, Score]:
    """Scores by family and for "all"; a table that leaves models out is refused."""
    if unknown := [name for name in answers.index if name not in index]:
        raise ValueError(f"{unknown[0]!r} is no model of the bench: expected names of its index")
    if missing := [name for name in index if name not in answers.index]:
        raise ValueError(
            f"{len(missing)} of {len(index)} models have no answer ({missing[0]!r} first): "
            "expected a row for each, with trusted false where there is none"
        )
    models = pd.DataFrame.from_dict(index, "index", columns=["family", "exact"]).join(answers)
    families = dict(list(models.groupby("family", sort=False)))
    return {family: _score(of) for family, of in (families | {"all": models}).items()}


def _score(models: pd.DataFrame) -> Score:
    held = models[models["trusted"]]
    off, error = (held["log_z"] - held["exact"]).abs().to_numpy(), held["std_error"].to_numpy()
    wrong = ~((off <= NATS) | (off <= ERRORS * error))
    # allow for rounding of exact values, which have no error bar
    covered = (off <= np.maximum(Z95 * error, 1e-6)) & (error >= 0)
    with_bar = error > 0
    z = off[with_bar] / error[with_bar]
    spread = math.sqrt(np.mean(z**2)) if z.size else math.nan
    median = float(np.sort(off)[off.size // 2]) if off.size else math.nan
    return Score(len(models), len(held), int(wrong.sum()), int(covered.sum()), spread, median)


def share_interval(k, n) -> tuple[np.ndarray, np.ndarray]:
    """95% intervals of shares, from ``k`` of ``n`` cases."""
    k, n = np.asarray(k, float), np.asarray(n, float)
    low = np.where(k == 0, 0.0, betaincinv(np.maximum(k, 1), n - k + 1, 0.025))
    high = np.where(k == n, 1.0, betaincinv(k + 1, np.maximum(n - k, 1), 0.975))
    return low, high


def _tables(files: dict[str, str]) -> dict[str, Path]:
    return {name: datasets.committed(f"bench/answers_{end}.csv") for name, end in files.items()}


def committed() -> tuple[dict[str, Path], dict]:
    """Tables by program, and the index of their models."""
    return _tables(COMMITTED), read_index()


def held_out() -> tuple[dict[str, Path], dict]:
    """The same for the models with seed 1, on which nothing was tuned."""
    return _tables(HELD_OUT), read_index(datasets.committed("bench/held_out.csv"))


def of_programs(tables: dict[str, Path], models: dict) -> dict[str, dict[str, Score]]:
    return {name: scores(read_answers(t), models) for name, t in tables.items()}


def row(name: str, score: Score, seconds: float = float("nan")) -> dict[str, str]:
    """A row of a table of programs; shares are of the trusted answers."""
    wrong = "–"
    if score.trusted:
        low, high = (100 * end for end in share_interval(score.wrong, score.trusted))
        wrong = f"{score.wrong} ({low:.2g}–{high:.2g}%)"
    with_bars = score.covered > 0 or not math.isnan(score.spread)
    return {
        "program": name, "trusted": f"{score.trusted} of {score.models}",
        "wrong (95% interval)": wrong,
        "covered": f"{score.covered / score.trusted:.0%}" if with_bars else "–",
        "spread": number(score.spread), "median error": number(score.median),
        "seconds": number(seconds),
    }  # fmt: skip


def programs(tables: dict[str, Path], models: dict):
    """One row per program for all families, with median seconds of the answered models."""
    found, rows = of_programs(tables, models), []
    for name, file in tables.items():
        answered = pd.read_csv(file).dropna(subset="log_z")
        rows.append(row(name, found[name]["all"], float(answered["seconds"].median())))
    return pd.DataFrame(rows)


def by_family(found: dict[str, dict[str, Score]]):
    """A grid of families by programs: trusted answers and, on red, how many are wrong."""
    import matplotlib.pyplot as plt

    from .plots import PHONE, RED

    families = [family for family in next(iter(found.values())) if family != "all"]
    families.sort(key=lambda f: -sum(of[f].wrong for of in found.values()))
    width = min(PHONE, 1.5 + 0.5 * len(found))  # narrow enough for a phone
    _, ax = plt.subplots(figsize=(width, 1.0 + 0.26 * len(families)))
    for x, of in enumerate(found.values()):
        for y, family in enumerate(families):
            s = of[family]
            if s.wrong:
                ax.plot(x, y, "s", ms=17, color=RED)
            text = f"{s.wrong}/{s.trusted}" if s.wrong else str(s.trusted or "·")
            ax.text(x, y, text, color="white" if s.wrong else "0.35", ha="center", va="center",
                    fontsize=8.5)  # fmt: skip
    ax.set(xlim=(-0.6, len(found) - 0.4), ylim=(len(families) - 0.4, -0.6))
    ax.set_xticks(range(len(found)), list(found), rotation=60, ha="left", rotation_mode="anchor")
    ax.set_yticks(range(len(families)), families)
    ax.xaxis.tick_top()
    ax.grid(False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax
