"""What the papers' figures show, from our stored runs: panels of curves, and where a claim is."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from statistics import fmean

from redrawn import Curve, Panel, Redrawn

from rbmbook import load_reference
from rbmbook.claims import claims
from rbmlib import datasets


def figures() -> list[Redrawn]:
    """All redrawn figures, in the order of the papers."""
    return [*_kiwaki(), _carlson_3(), _carlson_7(), _carlson_8()]


def rows(table: str) -> list[dict[str, str]]:
    with datasets.committed(f"results/{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def picked(found: list[dict], **where: str) -> list[dict]:
    return [row for row in found if all(row.get(key) == value for key, value in where.items())]


# ---------------------------------------------------------------- Kiwaki

SCHEDULES = {"linear": "LINEAR", "gms13": "GMS13", "varopt": "VAROPT0.009"}
TINTS = {"LINEAR": "blue", "GMS13": "grey", "VAROPT0.009": "orange", "VAROPT": "green"}
STEPS = "steps of annealing, K"


def _along_k(model: str, value) -> list[Curve]:
    """A quantity against K for each schedule, from the base rate: (value, half its bar)."""
    names = ("varopt_curves", "varopt_20", "varopt_500")
    found = [row for name in names for row in rows(name)]
    curves = []
    for schedule, name in SCHEDULES.items():
        cap = {"max_step": "0.009"} if schedule == "varopt" else {}
        own = picked(found, model=model, base="base rate", schedule=schedule, **cap)
        own.sort(key=lambda row: int(row["n_temperatures"]))
        both = {float(row["n_temperatures"]): value(row) for row in own}
        points, half = ({k: v[i] for k, v in both.items() if v[i] is not None} for i in (0, 1))
        curves.append(Curve(name, TINTS[name], points, half))
    return curves


def _log_z(row: dict) -> tuple[float, float]:
    return float(row["log_z"]), 3 * math.sqrt(float(row["variance"]))


def _ess(row: dict) -> tuple[float, None]:
    return float(row["ess"]) * 1000 / int(row["n_chains"]), None


def _printed_ess(model: str) -> Curve:
    key = f"kiwaki-t1-{model.replace('_', '')}"
    ends = [claims()[f"{key}-{s}-ess"].printed for s in ("linear", "gms13", "varopt0.009")]
    shifted = (90_000, 100_000, 111_000)  # side by side at K = 100,000
    points = {float(k): float(end) for k, end in zip(shifted, ends, strict=True)}
    return Curve("printed in Table 1", "ink", points, only_marks=True)


def _kiwaki() -> list[Redrawn]:
    models = {"pcd_20": "PCD(20)", "cd1_20": "CD1(20)", "cd25_20": "CD25(20)"}
    first = next(iter(models))
    errors, sizes = [], []
    for model, name in models.items():
        marks = {"kiwaki-f2-errors": ("VAROPT0.009", 1e5)} if model == first else {}
        level = float(picked(rows("varopt_20"), model=model, estimator="exact")[0]["log_z"])
        errors.append(Panel(name, STEPS, "log Z (nats)", _along_k(model, _log_z), marks, level))
        marks = {"kiwaki-f3-ess": ("VAROPT0.009", 1e5)} if model == first else {}
        curves = [*_along_k(model, _ess), _printed_ess(model)]
        sizes.append(Panel(name, STEPS, "ESS of 1,000 chains", curves, marks))
    large = {"kiwaki-f5-small-k": ("VAROPT0.009", 1e3), "kiwaki-f5-large-k": ("VAROPT0.009", 1e5)}
    level = load_reference()["pcd_500"].log_z
    bars = "Bars: three standard deviations of log w, as in the paper; from the base rate."
    captions = [
        f"Estimates of log Z against K; dashed: exact. {bars}",
        "ESS against K, from the base rate. Diamonds: the ESS that Table 1 prints of its own "
        "models (from left: LINEAR, GMS13, VAROPT0.009).",
        "ESS along the annealing of PCD(20), at 20 looks.",
        f"Estimates of log Z of PCD(500) against K; dashed: our reference. {bars}",
    ]
    of_500 = [Panel("PCD(500)", STEPS, "log Z (nats)", _along_k("pcd_500", _log_z), large, level)]
    drawn = zip(captions, (errors, sizes, _on_the_way(), of_500), strict=True)
    return [Redrawn("Kiwaki", f"Figure {i}", *both) for i, both in enumerate(drawn, 2)]


def _on_the_way() -> list[Panel]:
    kinds = {
        ("linear", ""): "LINEAR",
        ("varopt", "1.0"): "VAROPT",
        ("varopt", "0.003"): "VAROPT0.003",
    }
    tints = TINTS | {"VAROPT0.003": "orange"}
    early = {"drop": ("VAROPT", 0.1), "deceleration": ("VAROPT0.003", 0.1)}
    places = {
        ("own biases", "1000"): {f"kiwaki-f4-{key}": at for key, at in early.items()},
        ("own biases", "10000"): {"kiwaki-f4-larger-k": ("VAROPT", 0.1)},
        ("own biases", "100000"): {},
        ("base rate", "1000"): {},
    }  # fmt: skip
    panels = []
    for (base, k), marks in places.items():
        curves = []
        for (schedule, cap), name in kinds.items():
            own = picked(rows("varopt_on_the_way"), base=base, n_temperatures=k,
                         schedule=schedule, max_step=cap)  # fmt: skip
            points = {look / 20: float(row[f"ess_{look}"]) for row in own for look in range(1, 21)}
            if points:
                curves.append(Curve(name, tints[name], points))
        title = f"K = {int(k):,}, from {'the base rate' if base == 'base rate' else base}"
        panels.append(Panel(title, "share of the steps", "ESS", curves, marks, x_log=False))
    return panels


# ---------------------------------------------------------------- Carlson

RTS, LATER, AIS, REVERSE = "RTS", "RTS, 10 left out", "AIS", "reverse AIS"
OWN = "salakhutdinov_cd25_500"
KINDS = {
    RTS: ("blue", {"estimator": "rts", "starting": "pilot"}),
    LATER: ("sky", {"estimator": "rts_from_rounds"}),
    AIS: ("orange", {"estimator": "ais"}),
    REVERSE: ("grey", {"estimator": "reverse_ais"}),
    "RAISE": ("green", {"estimator": "raise", "n_images": "100"}),
}
SWEEPS = "sweeps, or steps of annealing"
MEAN, RMSE = "mean error (nats)", "RMSE (nats)"


def errors_of(model: str, kind: str, found: list[dict]) -> dict[float, list[float]]:
    """Errors of log Z by the number of sweeps."""
    truth = load_reference()[model].log_z
    errors = defaultdict(list)
    for row in picked(found, model=model, **KINDS[kind][1]):
        n = float(row["n_sweeps"] or row["n_temperatures"])
        if n <= 10_000:
            errors[n].append(float(row["log_z"]) - truth)
    return dict(sorted(errors.items()))


def rmse(errors: list[float]) -> float:
    return math.sqrt(fmean(e * e for e in errors))


def _pair(title: str, errors: dict[str, dict], on_mean: dict, on_rmse: dict) -> list[Panel]:
    def curves(average):
        return [
            Curve(kind, KINDS[kind][0], {n: average(e) for n, e in by.items()})
            for kind, by in errors.items()
            if by and not (kind == LATER and average is fmean)  # 100 nats off: no other would show
        ]

    return [
        Panel(title, SWEEPS, MEAN, curves(fmean), on_mean, 0.0),
        Panel(title, SWEEPS, RMSE, curves(rmse), on_rmse, y_log=True),
    ]


def _carlson_3() -> Redrawn:
    found = [*rows("rts_sweeps"), *picked(rows("rts_from_rounds"), base="base rate")]
    panels = []
    for units, model in (("500", "cd25_500"), ("100", "spectral_100")):
        errors = {kind: errors_of(model, kind, found) for kind in (RTS, LATER, AIS, REVERSE)}
        if units == "500":
            errors["RAISE"] = errors_of(OWN, "RAISE", rows("rts_raise"))
        key = f"carlson-f3-{units}"
        raised = "RAISE" if units == "500" else REVERSE
        on_mean = {f"{key}-bias-ais": (RTS, 1e3), f"{key}-bias-raise": (raised, 1e3)}
        on_rmse = {f"{key}-tenfold": (AIS, 1e4)}
        panels += _pair(f"{units} hidden units ({model})", errors, on_mean, on_rmse)
    return Redrawn(
        "Carlson", "Figure 3", "Mean and RMSE of log Z against sweeps, 100 chains, at each model's "
        "reference. RTS starts from a pilot that is not counted; RAISE from test images runs on "
        "Salakhutdinov's own model, less its own reference; elsewhere reverse AIS from samples of "
        "the model stands for it. RTS from rounds is 100 nats off, on the right only.", panels,
    )  # fmt: skip


def _carlson_7() -> Redrawn:
    found = [*rows("rts_uniform"), *picked(rows("rts_from_rounds"), base="uniform")]
    errors = {kind: errors_of("cd25_500", kind, found) for kind in (RTS, LATER, AIS, REVERSE)}
    on_mean = {"carlson-f7-faster": (RTS, 300.0)}
    places = {"rts": (RTS, 1e3), "ais": (AIS, 1e3), "raise": (REVERSE, 1e3), "similar": (RTS, 1e4)}
    on_rmse = {f"carlson-f7-{key}": place for key, place in places.items()}
    trips = []
    for name, colour, runs in (
        ("uniform", "red", found),
        ("base rate", "blue", rows("rts_sweeps")),
    ):
        by = defaultdict(list)
        for row in picked(runs, model="cd25_500", **KINDS[RTS][1]):
            by[float(row["n_sweeps"])].append(float(row["round_trips"]))
        trips.append(Curve(name, colour, {n: fmean(by[n]) for n in sorted(by)}))
    knot = {"carlson-f7-knot": ("uniform", 1e4)}
    of_trips = Panel("mixing over β", "sweeps", "round trips a chain", trips, knot)
    return Redrawn(
        "Carlson", "Figure 7", "cd25_500 (500 hidden units) from a uniform base. The paper's third "
        "panel shows a transition matrix; that of ours is in the chapter, and the round trips "
        "between the ends of the ladder stand here.",
        [*_pair("uniform base", errors, on_mean, on_rmse), of_trips],
    )  # fmt: skip


def _carlson_8() -> Redrawn:
    kinds = {"rts": ("RTS", "blue"), "sd": ("SD", "orange"), "rsd": ("RSD", "green")}
    truth = {m: load_reference()[m].log_z for m in ("pcd_10", "pcd_200")}
    short, long = [], []
    tempered = picked(rows("rts_tempered"), model="pcd_200", sampler="simulated")
    for key, (name, colour) in kinds.items():
        by = defaultdict(list)
        for row in rows("rts_moves"):
            if row[f"{key}_mean"]:
                off = float(row[f"{key}_mean"]) - truth["pcd_10"]
                by[float(row["n_sweeps"])].append(off**2 + float(row[f"{key}_variance"]))
        short.append(Curve(name, colour, {n: math.sqrt(fmean(by[n])) for n in sorted(by)}))
        column = "log_z" if key == "rts" else key
        ends = [float(row[column]) - truth["pcd_200"] for row in tempered if row[column]]
        shift = {"rts": 8_900.0, "sd": 10_000.0, "rsd": 11_200.0}[key]  # side by side
        long.append(Curve(name, colour, {shift: rmse(ends)}, only_marks=True))
    of_10 = {"carlson-f8-10-sd": ("SD", 500.0), "carlson-f8-10-rsd": ("RSD", 500.0)}
    of_200 = {"carlson-f8-200-sd": ("SD", 10_000.0), "carlson-f8-200-rsd": ("RSD", 11_200.0)}
    return Redrawn(
        "Carlson", "Figure 8", "RMSE of RTS, and of the stationary distribution of the transition "
        "matrix, counted (SD) or Rao-Blackwellized (RSD). Ours at 200 units ran 10,000 sweeps only "
        "(drawn side by side).",
        [Panel("10 hidden units (pcd_10)", "sweeps", RMSE, short, of_10, y_log=True),
         Panel("200 hidden units (pcd_200)", "sweeps", RMSE, long, of_200)],
    )  # fmt: skip
