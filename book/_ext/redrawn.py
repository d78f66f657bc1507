"""The papers' figures drawn anew from our runs, each claim as a numbered mark at its place.

The marks are links over the picture, so that ``check.js`` treats them as cells of a table.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from rbmbook.verdicts import SYMBOLS, Verdict, anchor

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 270, 48, 346, 16, 216
PIN = 56  # the least distance of two marks' centres


class Curve(NamedTuple):
    """Points by x; ``half`` is half the length of the bar at a point, if there are bars."""

    name: str
    colour: str
    points: dict[float, float]
    half: Mapping[float, float] = MappingProxyType({})
    only_marks: bool = False


class Panel(NamedTuple):
    """``marks``: the curve and x that a claim speaks of."""

    title: str
    x_name: str
    y_name: str
    curves: list[Curve]
    marks: dict[str, tuple[str, float]]
    level: float | None = None  # a dashed line: the truth
    x_log: bool = True
    y_log: bool = False


class Redrawn(NamedTuple):
    source: str
    title: str
    caption: str
    panels: list[Panel]


class Axis:
    """From numbers to places on the picture, with ticks that a person would choose."""

    def __init__(self, values: list[float], start: float, end: float, logarithmic: bool):
        self.of, self.start, self.end = math.log10 if logarithmic else float, start, end
        low, high = self.of(min(values)), self.of(max(values))
        pad = 0.05 * ((high - low) or 0.5)
        self.low, self.high, self.logarithmic = low - pad, high + pad, logarithmic

    def __call__(self, value: float) -> float:
        share = (self.of(value) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        if self.logarithmic:
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            by = (1,) if self.high - self.low > 1.5 else (1, 2, 3, 5)
            every = [m * 10.0**p for p in powers for m in by]
            return [t for t in every if self.low <= math.log10(t) <= self.high]
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= 0.8 * rough)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [i * step for i in range(first, last + 1)]


def block(figure: Redrawn, found: dict[str, tuple[Verdict, str]]) -> str:
    """HTML of one figure: its panels, and the list of its claims."""
    number = {name: i for i, name in enumerate(claims_on(figure, found), 1)}
    panels = "".join(_panel(panel, number, found) for panel in figure.panels)
    key = "".join(
        f'<li><a href="#{anchor(n)}">{html.escape(found[n][0].claim)}</a> '
        f'<span class="v-{SYMBOLS[found[n][0].outcome][1]}">'
        f"{SYMBOLS[found[n][0].outcome][0]} {found[n][0].outcome}</span></li>"
        for n in number
    )
    return (
        f'<figure class="v-drawn"><figcaption><b>{figure.source}, {figure.title}, drawn anew from '
        f"our runs.</b> {html.escape(figure.caption)}</figcaption>"
        f'<div class="v-panels">{panels}</div><ol class="v-key">{key}</ol></figure>'
    )


def claims_on(figure: Redrawn, found: dict) -> list[str]:
    return [name for panel in figure.panels for name in panel.marks if name in found]


def _panel(panel: Panel, number: dict[str, int], found: dict) -> str:
    xs = [x for curve in panel.curves for x in curve.points]
    ys = [y for c in panel.curves for x, y in c.points.items() if not c.half]
    ys += [e for c in panel.curves for x, h in c.half.items() for e in
           (c.points[x] - h, c.points[x] + h)]  # fmt: skip
    ys += [panel.level] if panel.level is not None else []
    if len(set(xs)) < 4 and panel.curves[0].only_marks:
        xs, ys = [*xs, 5_000, 20_000], [*ys, 0.0, 1.4 * max(ys)]
    x, y = Axis(xs, LEFT, RIGHT, panel.x_log), Axis(ys, BOTTOM, TOP, panel.y_log)
    drawn = [_frame(panel, x, y)]
    if panel.level is not None:
        drawn.append(f'<path class="r-level" d="M{LEFT} {y(panel.level)}H{RIGHT}"/>')
    drawn += [_curve(curve, x, y, i) for i, curve in enumerate(panel.curves)]
    pins, taken = [], []
    points = [(x(a), y(b)) for curve in panel.curves for a, b in curve.points.items()]
    for name, (on, at) in panel.marks.items():
        if name not in found:
            continue
        curve = next(curve for curve in panel.curves if curve.name == on)
        place = x(at), y(curve.points[at])
        pin = _free(place, taken, points)
        taken.append(pin)
        drawn.append(f'<path class="r-lead" d="M{place[0]} {place[1]}L{pin[0]} {pin[1]}"/>')
        pins.append(_pin(found[name][0], number[name], pin))
    names = "".join(
        f'<li><svg viewBox="0 0 22 10" aria-hidden="true">{_sample(c)}</svg>{html.escape(c.name)}'
        "</li>" for c in panel.curves
    )  # fmt: skip
    label = html.escape(f"{panel.title}: {panel.y_name} against {panel.x_name}")
    return (
        f'<div class="r-panel"><p>{html.escape(panel.title)}</p><div class="r-picture">'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(drawn)}'
        f'</svg>{"".join(pins)}</div><ul class="r-names">{names}</ul></div>'
    )


def _frame(panel: Panel, x: Axis, y: Axis) -> str:
    parts = [f'<path class="r-axis" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>']
    for tick in x.ticks():
        at = x(tick)
        parts.append(f'<path class="r-axis" d="M{at} {BOTTOM}v4"/><text x="{at}" y="{BOTTOM + 18}" '
                     f'text-anchor="middle">{_number(tick)}</text>')  # fmt: skip
    for tick in y.ticks():
        at = y(tick)
        parts.append(f'<path class="r-grid" d="M{LEFT} {at}H{RIGHT}"/><text x="{LEFT - 5}" '
                     f'y="{at + 4}" text-anchor="end">{_number(tick)}</text>')  # fmt: skip
    middle = (LEFT + RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">{panel.x_name}</text>')
    parts.append(f'<text x="2" y="9">{panel.y_name}</text>')
    return "".join(parts)


def _number(value: float) -> str:
    return f"{value:,.6g}".replace("-", "−")


def _curve(curve: Curve, x: Axis, y: Axis, i: int) -> str:
    aside = 4 * (i - 1) if curve.half else 0  # bars at one x stand side by side
    places = [(round(x(a) + aside, 1), y(b)) for a, b in curve.points.items()]
    line = "" if curve.only_marks else (
        f'<path class="r-line" d="M{"L".join(f"{a} {b}" for a, b in places)}"/>'
    )  # fmt: skip
    bars = "".join(
        f'<path class="r-bar" d="M{x(a) + aside:.1f} {y(curve.points[a] - h)}'
        f'V{y(curve.points[a] + h)}"/>'
        for a, h in curve.half.items()
    )
    dots = "".join(_dot(curve, a, b) for a, b in places)
    return f'<g class="r-curve" style="--c: var(--fig-{curve.colour})">{bars}{line}{dots}</g>'


def _dot(curve: Curve, a: float, b: float) -> str:
    if curve.only_marks:
        return f'<path class="r-hollow" d="M{a - 4.5} {b}l4.5 -4.5l4.5 4.5l-4.5 4.5z"/>'
    return f'<circle cx="{a}" cy="{b}" r="2.6"/>'


def _sample(curve: Curve) -> str:
    line = "" if curve.only_marks else '<path class="r-line" d="M1 5H21"/>'
    return (
        f'<g class="r-curve" style="--c: var(--fig-{curve.colour})">{line}{_dot(curve, 11, 5)}</g>'
    )


def _free(place: tuple, taken: list, points: list) -> tuple[float, float]:
    """Near the point, in the picture, clear of the marks before it and, if it can be, of points."""
    for of_points in (points, []):
        for reach in (28, 44, 62, 80, 98, 120):
            for turn in (-90, -135, -45, 90, 135, 45, 180):
                a = math.radians(turn)
                at = (
                    round(place[0] + reach * math.cos(a), 1),
                    round(place[1] + reach * math.sin(a), 1),
                )
                inside = LEFT + 22 < at[0] < RIGHT - 20 and TOP + 12 < at[1] < BOTTOM - 14
                clear = all(math.dist(at, other) >= PIN for other in taken)
                if inside and clear and all(math.dist(at, point) >= 24 for point in of_points):
                    return at
    return place


def _pin(verdict: Verdict, number: int, at: tuple[float, float]) -> str:
    symbol, kind = SYMBOLS[verdict.outcome]
    where = f"left:{100 * at[0] / WIDTH:.2f}%;top:{100 * at[1] / HEIGHT:.2f}%"
    said = html.escape(f", {verdict.claim}: {verdict.outcome}")
    return (
        f'<a class="v-pin v-{kind}" href="#{anchor(verdict.name)}" style="{where}" '
        f'data-source="{verdict.source}" data-outcome="{kind}">{number}'
        f'<span aria-hidden="true">{symbol}</span><span class="vh">{said}</span></a>'
    )
