"""The tables that the four sources print, with rows and columns in their order.

A cell is the name of a claim of ``published/claims.csv``, which holds the printed number.
"""

from __future__ import annotations

from typing import NamedTuple

SOURCES = {
    "Kiwaki": ("Kiwaki 2015", "optimal annealing schedules"),
    "Carlson": ("Carlson et al. 2016", "Rao-Blackwellized tempered sampling"),
    "Li": ("Li et al. 2016", "annealing the leakiness"),
    "Wang": ("Wang (report)", "AIS, TAP, RTS and SAMS compared"),
}


class Table(NamedTuple):
    """A printed table; ``groups`` are heads over several columns, as (text, columns)."""

    source: str
    title: str
    caption: str
    columns: list[str]
    rows: list[tuple[str, list[str]]]  # head of the row, names of claims ("" where nothing stands)
    groups: tuple[tuple[str, int], ...] = ()


def tables() -> list[Table]:
    """All printed tables, in the order of the sources."""
    return [_kiwaki(20), _kiwaki(500), *_li(), *_wang()]


def _kiwaki(units: int) -> Table:
    number, exact = (1, ["log Z"]) if units == 20 else (2, [])
    models = [f"PCD({units})", f"CD1({units})", f"CD25({units})"]
    rows = []
    for schedule in ("VAROPT", "VAROPT0.009", "VAROPT0.006", "VAROPT0.003", "LINEAR", "GMS13"):
        cells = []
        for model in models:
            key = f"kiwaki-t{number}-{model.lower().translate({40: '', 41: ''})}"
            if exact:  # printed once, in the first row
                cells.append(f"{key}-exact" if schedule == "VAROPT" else "")
            cells += [f"{key}-{schedule.lower()}-{what}" for what in ("logz", "ess")]
        rows.append((schedule, cells))
    columns = [*exact, "estimate", "ESS"] * len(models)
    caption = (
        f"AIS of models with {units} hidden units: K = 100,000 steps, 1,000 chains, log Z in nats. "
        "The models are not published, and another training has another ESS: an ESS is judged by "
        "how much smaller the variance is than with equal steps"
    )
    groups = tuple((model, len(exact) + 2) for model in models)
    return Table("Kiwaki", f"Table {number}", caption, ["schedule", *columns], rows, groups)


def _li() -> list[Table]:
    units = ("5", "10", "20", "30")
    methods = {"AIS-Energy": "energy", "AIS-Leaky": "leaky"}
    rows = []
    for name, key in methods.items():
        rows.append((f"{name}: difference", [f"li-t2-{key}-{u}" for u in units]))
        rows.append((f"{name}: deviation", [f"li-t2-{key}-{u}-std" for u in units]))
    models = {"Bernoulli-Gaussian RBM": "bernoulli", "leaky-ReLU RBM": "leaky"}
    sets = ("cifar10", "svhn")
    return [
        Table(
            "Li", "Table 1", "Exact log Z of leaky RBMs with orthogonal columns (nats)",
            ["hidden units", *units], [("log Z", [f"li-t1-{u}" for u in units])],
        ),
        Table(
            "Li", "Table 2", "Exact log Z less the estimate, and its standard deviation (nats)",
            ["hidden units", *units], rows,
        ),
        Table(
            "Li", "Table 3", "Mean log-likelihood of test images (nats)",
            ["model", "CIFAR-10", "SVHN"],
            [(name, [f"li-t3-{key}-{s}" for s in sets]) for name, key in models.items()],
        ),
    ]  # fmt: skip


def _wang() -> list[Table]:
    models = ("h10", "h20", "h100", "h500")

    def of_method(title: str, method: str, columns: dict[str, str]) -> Table:
        rows = [(m, [name.format(m) for name in columns.values()]) for m in models]
        caption = f"{method} on four models: log Z (nats), and its variance over 20 runs (nats²)"
        return Table("Wang", title, caption, ["model", *columns], rows)

    def columns(method: str, order: str) -> dict[str, str]:
        ends = {"variance": "var", "log Z": "logz"}
        return {name: f"wang-{method}-{ends[name]}" for name in order.split(", ")}

    runs = ("5", "10", "20", "50", "100")
    tap = {
        "TAP2 variance": "wang-tap2-{}-var",
        "TAP3 variance": "wang-tap3-{}-var",
        "log Z": "wang-tap-{}-logz",
    }
    return [
        Table(
            "Wang", "Section IV.A", "Correlation by Metropolis-Hastings from 50,000 points a run",
            ["runs", "mean (printed tenfold)", "variance"],
            [(r, [f"wang-mh-{r}-mean", f"wang-mh-{r}-var"]) for r in runs],
        ),
        Table(
            "Wang", "Section IV.B", "Seconds of one AIS chain (i7-6700, MATLAB), from the text",
            ["model", "seconds"], [(m, [f"wang-seconds-{m}"]) for m in models],
        ),
        of_method("Section IV.B", "AIS", columns("ais-{}", "log Z, variance")),
        of_method("Section IV.C", "TAP", tap),
        of_method("Section IV.D", "RTS", columns("rts-{}", "variance, log Z")),
        of_method("Section IV.E", "SAMS", columns("sams-{}", "variance, log Z")),
    ]  # fmt: skip
