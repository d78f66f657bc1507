"""The Check page: the four papers' tables as printed, each cell with its verdict; then the sentences.

Everything stands in the HTML. `check.js` only moves what belongs to a chosen cell into a panel and
filters; without it a cell links to its entry in the list below its table.
"""

from __future__ import annotations

import csv
import html
import math
import re
from collections import Counter
from pathlib import Path

from rbmlib import datasets
from rbmbook.claims import claims
from rbmbook.verdicts import OUTCOMES, SYMBOLS, Verdict, anchor

SOURCES = {
    "Kiwaki": ("Kiwaki 2015", "optimal annealing schedules"),
    "Carlson": ("Carlson et al. 2016", "Rao-Blackwellized tempered sampling"),
    "Li": ("Li et al. 2016", "annealing the leakiness"),
    "Wang": ("Wang (report)", "AIS, TAP, RTS and SAMS compared"),
}
SHORT = {"depends on what is not stated": "depends", "reproduced in sign, size differs": "in sign only",
         "at the ceiling: cannot show": "at the ceiling"}  # fmt: skip
esc = html.escape


# ------------------------------------------------------------------ the tables, as printed
def _tables():
    """Source, title, caption, head rows, body: cells are (text, claim name or None)."""
    schedules = ["VAROPT", "VAROPT0.009", "VAROPT0.006", "VAROPT0.003", "LINEAR", "GMS13"]
    for number, units in ((1, 20), (2, 500)):
        models = [f"PCD({units})", f"CD1({units})", f"CD25({units})"]
        keys = [m.lower().replace("(", "").replace(")", "") for m in models]
        head = [[("schedule", 1, 2)] + [(m, 2, 1) for m in models],
                [(x, 1, 1) for _ in models for x in ("log Z", "ESS")]]  # fmt: skip
        body = []
        if number == 1:
            body.append(["exact"] + [c for k in keys for c in (f"kiwaki-t1-{k}-exact", "")])
        for s in schedules:
            row = [s]
            for k in keys:
                row += [f"kiwaki-t{number}-{k}-{s.lower()}-{x}" for x in ("logz", "ess")]
            body.append(row)
        yield ("Kiwaki", f"Table {number}", f"AIS with K = 100,000 and 1,000 chains, models of {units} hidden units", head, body)
    units = (5, 10, 20, 30)
    yield ("Li", "Table 1", "log Z of leaky RBMs by the closed form",
           [[("hidden units", 1, 1)] + [(f"{u}", 1, 1) for u in units]], [["exact log Z"] + [f"li-t1-{u}" for u in units]])
    body = []
    for name, key in (("AIS-Energy", "energy"), ("AIS-Leaky", "leaky")):
        body.append([f"{name}: difference"] + [f"li-t2-{key}-{u}" for u in units])
        body.append([f"{name}: std"] + [f"li-t2-{key}-{u}-std" for u in units])
    yield ("Li", "Table 2", "True log Z minus its estimate (nats), and the standard deviation",
           [[("hidden units", 1, 1)] + [(f"{u}", 1, 1) for u in units]], body)
    yield ("Li", "Table 3", "Log-likelihood of test images (nats)", [[("model", 1, 1), ("CIFAR-10", 1, 1), ("SVHN", 1, 1)]],
           [["Bernoulli-Gaussian RBM", "li-t3-bernoulli-cifar10", "li-t3-bernoulli-svhn"],
            ["Leaky-ReLU RBM", "li-t3-leaky-cifar10", "li-t3-leaky-svhn"]])
    models = ("h10", "h20", "h100", "h500")
    head = [[("method", 1, 1)] + [(m, 1, 1) for m in models]]
    body = []
    for name, key in (("AIS", "ais"), ("RTS", "rts"), ("SAMS", "sams")):
        body.append([f"{name}: log Z"] + [f"wang-{key}-{m}-logz" for m in models])
        body.append([f"{name}: variance"] + [f"wang-{key}-{m}-var" for m in models])
    body.insert(2, ["TAP: log Z"] + [f"wang-tap-{m}-logz" for m in models])
    body.insert(3, ["TAP2: variance"] + [f"wang-tap2-{m}-var" for m in models])
    body.insert(4, ["TAP3: variance"] + [f"wang-tap3-{m}-var" for m in models])
    yield ("Wang", "Sections IV.B to IV.E", "Four methods on four models: mean and variance of 20 runs (nats)", head, body)
    yield ("Wang", "Table III, the loop as printed", "The same RTS numbers, asked of the loop that Table III prints",
           head, [["RTS: log Z"] + [f"wang-rts-{m}-loop-logz" for m in models], ["RTS: variance"] + [f"wang-rts-{m}-loop-var" for m in models]])
    runs = (5, 10, 20, 50, 100)
    yield ("Wang", "Section IV.A", "Correlation by Metropolis-Hastings, 50,000 points a run (printed tenfold)",
           [[("runs", 1, 1)] + [(f"{r}", 1, 1) for r in runs]],
           [["mean"] + [f"wang-mh-{r}-mean" for r in runs], ["variance"] + [f"wang-mh-{r}-var" for r in runs]])
    yield ("Wang", "Section IV.B", "Seconds of one AIS chain (i7-6700, MATLAB)", [[("model", 1, 1)] + [(m, 1, 1) for m in models]],
           [["seconds"] + [f"wang-seconds-{m}" for m in models]])


# --------------------------------------------------------------- ours, in the unit of the cell
def _our_ess() -> dict[str, list[tuple[str, float, float, float]]]:
    """ESS of our models by claim, of 1,000 chains: base, value, interval. Never a ratio."""
    found: dict[str, list] = {}
    for name in ("varopt_20", "varopt_bases", "varopt_500"):
        with datasets.committed(f"results/{name}.csv").open(encoding="utf-8", newline="") as file:
            for r in csv.DictReader(file):
                if r["estimator"] != "two_way_ais" or r["schedule"] == "friction":
                    continue
                method, units = r["model"].split("_")
                label = r["schedule"]
                if label == "varopt" and float(r["max_step"]) < 1:
                    label += f"{float(r['max_step']):g}"
                key = f"kiwaki-t{1 if units == '20' else 2}-{method}{units}-{label}-ess"
                scale = 1000 / float(r["n_chains"])
                found.setdefault(key, []).append(
                    (r["base"], *(float(r[c]) * scale for c in ("ess", "ess_low", "ess_high")), int(r["n_chains"]))
                )
    return found


def n(x: float) -> str:
    """A number for people: four digits, no 1e-05."""
    if not math.isfinite(x):
        return "∞" if x > 0 else "−∞"
    if x == 0:
        return "0"
    size = abs(x)
    if size < 1e-3:
        power = math.floor(math.log10(size))
        text = f"{x / 10**power:.2g} × 10<sup>{power}</sup>".replace("-", "−")
        return text
    digits = max(0, 3 - math.floor(math.log10(size)) - 1) if size < 1000 else (0 if size >= 10000 else 1)
    return f"{x:,.{digits}f}".replace("-", "−")


def two_digits(text: str) -> str:
    """'226.0756 ± 0.0880' with two digits of error: '226.076 ± 0.088'."""

    def fix(m):
        value, error = float(m[1].replace(",", "").replace("−", "-")), float(m[2].replace(",", ""))
        if not error > 0:
            return m[0]
        d = min(7, max(0, 1 - math.floor(math.log10(error))))
        return f"{value:,.{d}f} ± {error:,.{d}f}".replace("-", "−")

    return re.sub(r"([-−]?[\d,]+\.?\d*) ± ([\d,]+\.?\d*)", fix, text)


def _margin(v: Verdict) -> tuple[float, str] | None:
    if m := re.search(r"margin ±([\d.]+)", v.note):
        return float(m[1]), "±"
    if m := re.search(r"margin:? a factor of ([\d.]+)", v.note):
        return float(m[1]), "×"
    return None


def _reason(v: Verdict) -> str:
    """One sentence."""
    note, out = v.note, v.outcome
    if "the models of the paper are not published" in note:
        return "The paper's models are not published, and log Z belongs to one model, so no number of ours can stand beside it."
    if "one training" in note:
        return "Each of our models is one training of the paper's kind; another training would give another number, so this decides nothing about the paper's."
    parts = [p for p in note.split("; ") if p]
    power = next((p for p in parts if p.startswith("power:")), "")
    margin = next((p for p in parts if p.startswith("margin")), "")
    other = [p for p in parts if not p.startswith(("power:", "margin"))]
    if note == "to the printed digits":
        return "Ours rounds to the printed digits."
    if note == "other digits":
        return "Ours comes without noise, and its digits are others."
    if out == "not decided" and power:
        effect = re.search(r"an effect of (.*?) would", power)[1]
        text = f"Our interval lies on both sides of the border: these runs would have shown an effect of {effect}, not a smaller one"
        return text + (f" (the same means {_border(margin)})." if margin else ".")
    if out == "contradicted" and margin:
        return f"The whole interval lies outside {_border(margin)}."
    if out == "reproduced" and margin:
        return f"The whole interval lies within {_border(margin)}."
    if out == "contradicted" and not note:
        return "The whole interval lies on the other side of what is claimed."
    if out == "reproduced" and not note:
        return "The whole interval lies on the claimed side."
    if size := re.search(r"claimed size ([\d.]+) to ([\d.]+|inf)", note):
        low, high = float(size[1]), float(size[2])
        claim = f"at least {n(low)}" if high == math.inf else f"{n(low)} to {n(high)}"
        side = ""
        if math.isfinite(v.low):
            side = "above" if v.low > high else "below" if v.high < low else ""
        if out == "reproduced":
            return f"The whole interval lies within what the claim allows ({claim})."
        if out == "contradicted":
            return f"The claim allows {claim}" + (f", and the whole interval lies {side} it." if side else ", and our interval does not reach it.")
        return f"The sign is the claimed one; the claim allows {claim}" + (f", and our interval lies {side} it." if side else ".")
    if "readings" in note:
        counts = ", ".join(p.replace(" by ", " by ") for p in parts)
        return f"The report leaves settings open; we ran 38 readings of it: {counts}."
    text = "; ".join(other or parts)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _border(margin: str) -> str:
    m = re.match(r"margin:? ?(±[\d.]+|a factor of [\d.]+)[:,]? ?(.*)", margin)
    if not m:
        return margin
    size = re.sub(r"\.?0+$", "", f"{float(m[1][1:]):.2g}") if m[1][0] == "±" else m[1]
    size = f"±{size}" if m[1][0] == "±" else size
    return f"{size}, {m[2]}" if m[2] else size


# ----------------------------------------------------------------------- a small picture
def _strip(rows, lo, hi, band=None, mark=None, log=False, unit="", mark_name="printed") -> str:
    """Intervals on one axis: rows of (name, value, low, high); the margin as a band; the printed number."""
    f = (lambda x: math.log(x)) if log else (lambda x: x)
    a, b = f(lo), f(hi)
    start = 84 if any(name for name, *_ in rows) else 8
    x = lambda v: start + (312 - start) * min(1, max(0, (f(max(v, lo) if log else v) - a) / (b - a)))  # noqa: E731
    height = 30 + 22 * len(rows)
    out = [f'<svg class="v-strip" viewBox="0 0 320 {height}" role="img" aria-label="Picture of the interval">']
    if band:
        out.append(f'<rect class="v-band" x="{x(band[0]):.1f}" y="4" width="{x(band[1]) - x(band[0]):.1f}" height="{height - 24}"/>')
    out.append(f'<path class="v-axis" d="M{start} {height - 19}H312"/>')
    if mark is not None:
        out.append(f'<path class="v-mark" d="M{x(mark):.1f} 4V{height - 19}"/>')
        place = "start" if x(mark) < start + 40 else "end" if x(mark) > 270 else "middle"
        out.append(f'<text x="{x(mark):.1f}" y="{height - 5}" text-anchor="{place}">{mark_name}</text>')
    if start > 8:  # an axis of its own: its end
        out.append(f'<text x="312" y="{height - 5}" text-anchor="end">{hi:,.0f}</text>' if mark is not None and x(mark) < 230 else "")
    for i, (name, value, low, high) in enumerate(rows):
        y = 16 + 22 * i
        if name:
            out.append(f'<text x="0" y="{y + 4}">{esc(name)}</text>')
        out.append(f'<path class="v-int" d="M{x(low):.1f} {y}H{x(high):.1f}"/><circle class="v-dot" cx="{x(value):.1f}" cy="{y}" r="4.5"/>')
    return "".join(out) + "</svg>"


CASE = re.compile(r"^(?P<name>.+?): (?P<v>[−-]?[\d.,]+) \[(?P<lo>[−-]?[\d.,∞]+), (?P<hi>[−-]?[\d.,∞]+)\](?: (?P<u>.*))?$")


def _cases(v: Verdict):
    """Effects of a claim judged on several models, as rows; None if it is not of this kind."""
    rows = []
    for part in v.ours.split("; "):
        m = CASE.match(part)
        if not m:
            return None
        num = [float(m[k].replace("−", "-").replace(",", "").replace("∞", "inf")) for k in ("v", "lo", "hi")]
        rows.append((m["name"], *num, m["u"] or ""))
    return rows


def _is_ratio(v: Verdict) -> bool:
    return "×/÷" in v.ours or v.name.endswith("-var") or (v.unit == "" and "factor" in v.note)


def _entry(v: Verdict, chapter: str, ess, same: list[str], printed: str) -> str:
    """All that belongs to one claim."""
    symbol, css = SYMBOLS[v.outcome]
    rows, picture = [], ""
    unit = f" {v.unit}" if v.unit and v.unit != "chains" else ""
    ours = two_digits(v.ours)
    if v.name in ess:
        lines = ess[v.name]
        few = " (of 1,000; run with 100)" if any(r[4] != 1000 for r in lines) else ""
        ours = "<br>".join(f"{r[1]:.0f} [{r[2]:.0f}, {r[3]:.0f}] from {esc(r[0])}{few}" for r in lines)
        picture = _strip([(r[0], r[1], r[2], r[3]) for r in lines], 0, 1000, mark=float(v.paper), unit="")
        interval = ""
    elif cases := _cases(v):
        body = "".join(
            f'<tr><th scope="row">{esc(c[0])}</th><td>{n(c[1])}</td><td>[{n(c[2])}, {n(c[3])}]</td></tr>' for c in cases
        )
        u = cases[0][4]
        kind = f"effect ({u})" if u else "ratio"
        ours = f'<table class="v-cases"><thead><tr><th scope="col">on</th><th scope="col">{kind}</th><th scope="col">99.9%</th></tr></thead><tbody>{body}</tbody></table>'
        interval = ""
    else:
        ours = re.sub(r"^(.*), (\d+) readings$", rf"\1{unit} over \2 readings of the report", ours)
        ours = esc(ours) + (unit if ours and unit and "readings" not in ours and not ours.endswith(unit) and re.match(r"^[−\d]", ours) else "")
        interval = ""
        if math.isfinite(v.effect) and v.low < v.high:
            margin = _margin(v)
            if _is_ratio(v):
                interval = f"ours / printed = {n(v.effect)}, 99.9% between {n(v.low)} and {n(v.high)}" if v.name.endswith("-var") else f"{n(v.effect)}, 99.9% between {n(v.low)} and {n(v.high)}"
                band = (1 / margin[0], margin[0]) if margin and margin[1] == "×" else None
                ends = [x for x in (v.low, v.high, 1, *(band or ())) if 0 < x < math.inf]
                if v.low > 0:
                    picture = _strip([("", v.effect, v.low, v.high)], min(ends) / 1.5, max(ends) * 1.5, band, 1, log=True, mark_name="the same")
            else:
                try:
                    at = float(v.paper)
                except ValueError:
                    at = None
                name = "ours − printed" if at is not None else "effect"
                interval = f"{name} = {n(v.effect)}, 99.9% between {n(v.low)} and {n(v.high)}{unit}"
                band = (-margin[0], margin[0]) if margin and margin[1] == "±" else None
                ends = [x for x in (v.low, v.high, 0, *(band or ())) if math.isfinite(x)]
                pad = 0.12 * (max(ends) - min(ends) or 1)
                picture = _strip([("", v.effect, v.low, v.high)], min(ends) - pad, max(ends) + pad, band, 0, mark_name="printed" if at is not None else "0")
    rows.append(("compared", esc(v.claim)))
    rows.append(("printed", f"<b>{esc(v.paper)}</b>"))
    if ours:
        rows.append(("ours", ours))
    if interval:
        rows.append(("interval", interval))
    rows.append(("why", esc(_reason(v))))
    if same:
        links = ", ".join(f'<a href="#{anchor(s)}">{esc(claims()[s].printed)}</a>' for s in same)
        rows.append(("note", f"One measurement of ours meets this number and {links}."))
    dl = "".join(f"<div><dt>{k}</dt><dd>{d}</dd></div>" for k, d in rows)
    return (
        f'<div class="v-entry v-{css}" id="{anchor(v.name)}" data-source="{v.source}" data-outcome="{css}">'
        f'<p class="v-head"><span class="v-badge v-{css}">{symbol} {v.outcome}</span> <span class="v-place">{esc(v.source)}, {esc(v.place)}</span></p>'
        f"<dl>{dl}</dl>{picture}"
        f'<p class="v-links"><a href="{chapter}.html#{anchor(v.name)}">the code and the runs: {chapter}</a> · '
        f'<a class="v-perma" href="#{anchor(v.name)}">link to this number</a></p></div>'
    )


# --------------------------------------------------------------------------------- the page
def page(found: dict[str, tuple[Verdict, str]]) -> str:
    """HTML of the page. `found`: verdict and chapter by the name of a claim."""
    ess, used = _our_ess(), set()
    groups: dict[tuple, list[str]] = {}
    for name, (v, _) in found.items():
        if v.ours and "table" in v.place and v.source == "Kiwaki":
            groups.setdefault((v.place, v.ours), []).append(name)
    same = {m: [o for o in g if o != m] for g in groups.values() if len(g) > 1 for m in g}

    def entry(name):
        v, chapter = found[name]
        return _entry(v, chapter, ess, same.get(name, []), v.paper)

    sections: dict[str, list[str]] = {s: [] for s in SOURCES}
    for source, title, caption, head, body in _tables():
        names = [c for row in body for c in row[1:] if c in found]
        used.update(names)
        sections[source].append(_table(title, caption, head, body, found))
        every = "\n".join(entry(x) for x in names)
        sections[source].append(
            f'<details class="v-all"><summary>All {len(names)} numbers of this table in words</summary>{every}</details>'
        )
    out = [_summary(found)]
    for source, (name, subject) in SOURCES.items():
        rest = [x for x in claims() if x in found and claims()[x].source == source and x not in used]
        lines = "\n".join(_line(*found[x], entry(x)) for x in rest)
        what = "Sentences and figures" if sections[source] else "Sentences and figures (it prints no table)"
        out.append(
            f'<section class="v-source" data-source="{source}" id="check-{source.lower()}"><h2>{name}<span>{subject}</span></h2>'
            + "\n".join(sections[source])
            + f'<h3>{what}</h3><div class="v-lines">{lines}</div></section>'
        )
    panel = (
        '<aside class="v-panel" id="v-panel" aria-label="The chosen number" hidden>'
        '<button type="button" class="v-close pill">Close</button><div class="v-panel-body" tabindex="-1"></div></aside>'
    )
    return (
        f'<div class="check-page">{out[0]}<div class="v-grid"><div class="v-main">{"".join(out[1:])}</div>{panel}</div></div>\n'
        '<script src="../_static/check.js" defer></script>'
    )


def _table(title, caption, head, body, found) -> str:
    heads = "".join(
        "<tr>" + "".join(
            f'<th scope="{"colgroup" if w > 1 else "col"}" colspan="{w}" rowspan="{h}">{esc(t)}</th>' for t, w, h in row
        ) + "</tr>"
        for row in head
    )  # fmt: skip
    rows = "".join(
        f'<tr><th scope="row">{esc(row[0])}</th>' + "".join(_cell(c, found) for c in row[1:]) + "</tr>" for row in body
    )
    return (
        f'<div class="v-scroll"><table class="printed"><caption><span><b>{esc(title)}.</b> {esc(caption)}</span></caption>'
        f"<thead>{heads}</thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(name, found) -> str:
    if name not in found:
        return '<td class="v-none"></td>'
    v, _ = found[name]
    symbol, css = SYMBOLS[v.outcome]
    return (
        f'<td class="v-cell v-{css}" data-source="{v.source}" data-outcome="{css}"><a href="#{anchor(name)}">'
        f'<span class="v-num">{_people(v.paper)}</span><span class="v-sym" aria-hidden="true">{symbol}</span>'
        f'<span class="vh">, {esc(v.outcome)}</span></a></td>'
    )


def _people(text: str) -> str:
    m = re.fullmatch(r"([\d.]+)e(-?\d+)", text)
    return f"{m[1]}·10<sup>{m[2].replace('-', '−')}</sup>" if m else esc(text).replace("-", "−")


def _line(v: Verdict, chapter: str, entry: str) -> str:
    symbol, css = SYMBOLS[v.outcome]
    short = SHORT.get(v.outcome, v.outcome)
    return (
        f'<details class="v-line v-{css}" data-source="{v.source}" data-outcome="{css}"><summary><span class="v-badge v-{css}">'
        f'{symbol} {short}</span><span class="v-claim">{esc(v.claim)}</span><span class="v-where">{esc(v.place)}</span></summary>{entry}</details>'
    )


def _summary(found) -> str:
    verdicts = [v for v, _ in found.values()]
    by = Counter(v.outcome for v in verdicts)
    bar = "".join(
        f'<span class="v-{SYMBOLS[o][1]}" style="flex:{by[o]}"></span>' for o in OUTCOMES if by[o]
    )
    chips = "".join(
        f'<button type="button" class="v-chip v-{SYMBOLS[o][1]}" aria-pressed="false" data-outcome="{SYMBOLS[o][1]}">'
        f"{SYMBOLS[o][0]} {SHORT.get(o, o)} <b>{by[o]}</b></button>"
        for o in OUTCOMES if by[o]
    )  # fmt: skip
    sources = "".join(
        f'<button type="button" class="v-chip" aria-pressed="false" data-source="{s}">{name} <b>{sum(v.source == s for v in verdicts)}</b></button>'
        for s, (name, _) in SOURCES.items()
    )
    unpublished = sum(v.outcome == "cannot be checked" for v in verdicts)
    training = sum(v.outcome == "not decided" and "one training" in v.note for v in verdicts)
    runs = by["not decided"] - training
    return (
        '<p class="v-lead">Four papers print numbers. Here are their tables again, each cell with what we found: '
        f'<b>{by["reproduced"]}</b> reproduced, <b>{by["contradicted"]}</b> contradicted, and '
        f'<b>{unpublished + by["not decided"] + by["depends on what is not stated"]}</b> open: {unpublished} because the model or program is not published, '
        f'{training} because one training stands for many, {runs} because our runs are too few to tell, '
        f'{by["depends on what is not stated"]} because the answer turns on what the paper leaves out. '
        "Choose a number to see ours beside it.</p>"
        f'<div class="v-bar" aria-hidden="true">{bar}</div>'
        f'<div class="v-filter"><div role="group" aria-label="Verdict">{chips}</div><div role="group" aria-label="Source">{sources}'
        '<button type="button" class="v-reset pill" hidden>Show all</button></div><p class="v-count" role="status"></p></div>'
    )


def write(folder: Path, chapters, verdicts_in) -> str:
    found = {v.name: (v, c.stem) for c in chapters(folder) for v in verdicts_in(c)}
    return page({x: found[x] for x in claims() if x in found})
