"""The style of the book's figures, and SVG that follows the page's theme, also on phones.

Methods with colours that a colour-blind reader may confuse differ in marker and line. The output of
a figure has its SVG, with the variant for phones in its metadata, where `book/_ext/figures.py`
finds it. It also has a digest of the drawn data, which a test of the stored notebooks compares,
because the text of an SVG differs between versions of matplotlib.
"""

import base64
import hashlib
import io
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

DRAWN = "application/vnd.rbmlib.figure+json"
LOOK = {"svg.fonttype": "none", "svg.hashsalt": "rbmlib", "svg.image_inline": True}
PHONE = 4.2  # inches: 340 px of a phone show 10 pt as 11 px
PANEL = 2.7  # height in inches of stacked panels
LEGEND = 3  # columns
MANY, DOTS = 1500, 200  # points above which an artist becomes an image, and its dots per inch
BLUE, ORANGE, GREEN, GREY, RED = "#0b5394", "#c55a11", "#2e7d32", "#5f6368", "#b3261e"

# Colour, marker, line: by method, then by schedule, base and model of a path.
_LOOKS = {
    "exact": ("#000000", "", "--"),
    "published": ("#5f6368", "D", ":"),
    # Annealing: blues and violets.
    "AIS": ("#0b5394", "o", "-"),
    "reverse AIS": ("#3d8fd1", "s", "-"),
    "RAISE": ("#7b6cd9", "<", "--"),
    # Both ends of an interval at once: greens.
    "BAR": ("#2e7d32", "D", "-."),
    "MBAR": ("#00897b", "P", "--"),
    "SMC": ("#00838f", "<", ":"),
    # Tempering: orange to red.
    "RTS": ("#c55a11", "^", "-"),
    "counts": ("#8a6d00", "v", ":"),
    "TI": ("#b08d00", "X", "-."),
    "TI-RB": ("#e06c00", "d", "--"),
    "NRPT": ("#5d4037", ">", "--"),
    "log_z": ("#424242", "1", "-"),
    "SAMS": ("#b3261e", "p", "-"),
    # Without sampling: purple.
    "TAP2": ("#8e24aa", "H", "-."),
    "TAP3": ("#c25ee0", "8", "--"),
    # Schedules.
    "linear": ("#5f6368", "o", ":"),
    "VAROPT": ("#0b5394", "s", "-"),
    "uniform": ("#8a6d00", "X", ":"),
    "GMS13": ("#2e7d32", "v", "-."),
    # Bases.
    "base rate": ("#0b5394", "o", "-"),
    "own biases": ("#c55a11", "v", "--"),
}
METHOD_COLOURS = {name: colour for name, (colour, _, _) in _LOOKS.items()}
STYLE: Any = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25,
    "font.size": 10, "legend.frameon": False, "figure.constrained_layout.use": True,
    "figure.facecolor": "white", "axes.facecolor": "none",
}  # fmt: skip


def use_style() -> None:
    """Set the book's style for all following figures; a notebook shows them by `bundle`."""
    from IPython import get_ipython

    plt.rcParams.update(STYLE)
    shell = get_ipython()
    if shell is not None and hasattr(shell, "kernel"):
        from matplotlib_inline.config import InlineBackend

        InlineBackend.instance(parent=shell).figure_formats = set()
        shell.display_formatter.mimebundle_formatter.for_type(Figure, bundle)


def method(name: str, label: str | None = None, markers: bool = True) -> dict[str, Any]:
    """Colour, line, label (by default the name) and marker of a method, schedule or base."""
    colour, marker, line = _LOOKS[name]
    look = {"color": colour, "linestyle": line, "label": label or name}
    return look | ({"marker": marker, "markersize": 5} if markers and marker else {})


def truth(ax, value: float, label: str = "exact") -> None:
    ax.axhline(value, lw=1.2, zorder=1, **method("exact", label))


def bundle(figure: Figure, include=None, exclude=None) -> dict:
    """The stored output of a figure: its SVG, which contains that for phones, and its digest."""
    digest = drawn(figure)
    _as_pictures(figure)
    wide = _svg(figure)
    if tall(figure):
        with warnings.catch_warnings(record=True) as found:
            inside = base64.b64encode(_svg(figure).encode()).decode()
        if not found:  # elements beside its panels may leave no room
            wide = wide.replace("<metadata>", f"<metadata>book-tall:{inside}", 1)
    return {"image/svg+xml": wide, DRAWN: {"drawn": digest}}


def drawn(figure: Figure) -> str:
    """A digest of the data of all artists, to a millionth of the largest number of each."""
    made = hashlib.sha256()
    for ax in figure.axes:
        for artist in (*ax.lines, *ax.collections, *ax.patches, *ax.images):
            made.update(type(artist).__name__.encode())
            for values in _data(artist):
                numbers = np.ma.filled(np.ma.asarray(values, float), np.nan)
                finite = np.abs(numbers[np.isfinite(numbers)])
                scale = finite.max() if finite.size and finite.max() > 0 else 1.0
                made.update((np.round(numbers / scale, 6) + 0.0).astype(np.float32).tobytes())
                made.update(f"{scale:.5g}".encode())
    return made.hexdigest()[:16]


def _data(artist) -> list:
    if hasattr(artist, "get_xydata"):
        return [artist.get_xydata()]
    if hasattr(artist, "get_offsets"):
        vertices = [path.vertices for path in artist.get_paths()[:MANY]]
        colours = artist.get_array()
        return [artist.get_offsets(), *vertices, *([] if colours is None else [colours])]
    if hasattr(artist, "get_path"):
        return [artist.get_patch_transform().transform(artist.get_path().vertices)]
    return [artist.get_array()]


def _as_pictures(figure: Figure) -> None:
    """Turn artists with very many points into images, which keeps the SVG small."""
    for ax in figure.axes:
        crowded = sum(len(line.get_xydata()) for line in ax.lines) > 8 * MANY
        for artist in (*ax.lines, *ax.collections):
            line = hasattr(artist, "get_xydata")
            marks = not line or artist.get_marker() not in ("None", "", None)
            points = sum(len(values) for values in _data(artist))
            sizes = artist.get_sizes() if hasattr(artist, "get_sizes") else ()
            own = len(sizes) > DOTS  # each dot is a separate path
            if (points > MANY and marks) or (line and crowded and points > DOTS) or own:
                artist.set_rasterized(True)


def tall(figure: Figure) -> bool:
    """Stack the panels of a figure for a phone; return False if the figure is left unchanged."""
    panels = [ax for ax in figure.axes if ax.get_subplotspec() is not None]
    width, height = figure.get_size_inches()
    images = any(ax.images and not ax.axison for ax in panels)
    if width <= PHONE or not panels or len(panels) > 8 or images:
        return False
    for legend in figure.legends[:]:  # for all panels: below them, in fewer columns
        named = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        legend.remove()
        columns = min(legend._ncols, LEGEND)
        figure.legend(*named, loc="outside lower center", ncols=columns, prop=legend.prop)
    if len(panels) == 1:
        figure.set_size_inches(PHONE, min(height, PHONE))
        return True
    _named_alike(panels)
    own = height / panels[0].get_subplotspec().get_gridspec().nrows
    each = own if own > 2 * PANEL else PANEL  # for very many rows
    places = GridSpec(len(panels), 1, figure=figure)
    for ax, place in zip(panels, places, strict=True):
        ax.set_subplotspec(place)
        ax.tick_params(labelleft=True, labelbottom=True)
    figure.set_size_inches(PHONE, each * len(panels))
    return True


def _named_alike(panels) -> None:
    """Label panels without labels like the first panel of the row or the last of the column."""
    for ax in panels:
        spec = ax.get_subplotspec()
        same_row = [p for p in panels if p.get_subplotspec().rowspan.start == spec.rowspan.start]
        same_column = [p for p in panels if p.get_subplotspec().colspan.start == spec.colspan.start]
        shares = ax.get_shared_y_axes().get_siblings(ax) != [ax]
        if shares and ax.yaxis.get_visible() and not ax.get_ylabel():
            ax.set_ylabel(same_row[0].get_ylabel())
        if not ax.get_xlabel():
            ax.set_xlabel(same_column[-1].get_xlabel())


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    with plt.rc_context(LOOK):
        figure.savefig(
            text, format="svg", dpi=DOTS, bbox_inches="tight", facecolor="none",
            metadata={"Date": None, "Creator": "matplotlib"},
        )  # fmt: skip
    return text.getvalue()
