"""Figures that stand in the page as SVG, so that their colours follow its theme.

`rbmbook.plots.bundle` writes one SVG an output, with a variant for phones in its metadata.
"""

import base64
import colorsys
import io
import re
from pathlib import Path

from PIL import Image

IMAGE = re.compile(r'<img\b[^>]*\bsrc="([^"]*\.svg)"[^>]*>')
TALL = re.compile(r"book-tall:([A-Za-z0-9+/=]+)")

# Colours of plots.py, and the names under which book.css gives them in both themes.
COLOURS = {
    "#000000": "--fig-ink", "#0b5394": "--fig-blue", "#c55a11": "--fig-orange",
    "#2e7d32": "--fig-green", "#5f6368": "--fig-grey", "#b3261e": "--fig-red",
    "#3d8fd1": "--fig-sky", "#8a6d00": "--fig-gold", "#b0b0b0": "--fig-grid",
    "#ffffff": "--paper",
}  # fmt: skip
# --paper, and least contrast of a line
GROUNDS = {"light": ("fdfcfa", 3.5), "dark": ("12161b", 8.1)}
DESK, PHONE = (11, 872), (9, 345)  # px: the smallest text, and the width that a figure has there
SIZE = re.compile(r"(font(?:-size)?: ?)([\d.]+)px")
PICTURE = re.compile(r"(data:image/png;base64,)([A-Za-z0-9+/=\s]+)")
OTHER = re.compile(r"((?:fill|stroke): ?)#([0-9a-f]{6})")


def inlined(html: str, page: Path) -> str:
    """The page with its figures in place of links to their files."""
    count = 0
    others: set[str] = set()

    def put(match) -> str:
        nonlocal count
        path = (page.parent / match[1]).resolve()
        text = path.read_text("utf-8", "ignore") if path.is_file() else ""
        if "matplotlib" not in text:
            return match[0]
        count += 1
        others.update(colour for _, colour in OTHER.findall(text))
        alt, own = _attribute("alt", match[0]), _attribute("class", match[0])
        tall = TALL.search(text)
        made = inline(text, f"{own} {'wide' if tall else 'only'}".strip(), alt, f"f{count}w-")
        if tall:
            inner = base64.b64decode(tall[1]).decode()
            made += inline(inner, f"{own} tall".strip(), alt, f"f{count}t-")
        return made

    html = IMAGE.sub(put, html)
    found = [c for c in sorted(others) if f"#{c}" not in COLOURS]
    if found:
        themes = "".join(
            f"html[data-theme={theme}]{{{''.join(f'--c-{c}:{seen(c, theme)};' for c in found)}}}"
            for theme in GROUNDS
        )
        html = html.replace("</head>", f"<style>{themes}</style>\n</head>", 1)
    return html


def seen(colour: str, theme: str) -> str:
    """A colour of the same hue with enough contrast to the ground of a theme, for lines; grounds
    of figures, which are light, are left as they are, or dark."""
    ground, least = GROUNDS[theme]
    hue, light, much = colorsys.rgb_to_hls(*_parts(colour))
    if light > 0.8:
        light = light if theme == "light" else 1.05 - 0.9 * light
    else:
        step = 0.01 if theme == "dark" else -0.01
        while _contrast(colorsys.hls_to_rgb(hue, light, much), ground) < least:
            light += step
    return "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(hue, light, much))


def _parts(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4))


def _contrast(colour, ground: str) -> float:
    """Of WCAG 2: the ratio of both luminances, each with a twentieth added."""

    def luminance(parts) -> float:
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    dark, bright = sorted((luminance(colour), luminance(_parts(ground))))
    return bright / dark


def _attribute(name: str, tag: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return found[1] if found else ""


def smaller(svg: str) -> str:
    """The same to the eye: places to .01 of a point, pictures with a palette, no indents."""
    place = re.compile(r"(-?\d+\.\d{2})\d+")
    svg = re.sub(r'(?<= )(?:d|x|y)="[^"]*"', lambda found: place.sub(r"\1", found[0]), svg)
    svg = PICTURE.sub(lambda found: found[1] + _with_palette(found[2]), svg)
    return re.sub(r"\n\s*", "\n", svg)


def _with_palette(text: str) -> str:
    """A PNG, as base64, in 256 colours of 32 levels each, if that is shorter."""
    made = io.BytesIO()
    picture = Image.open(io.BytesIO(base64.b64decode(text))).convert("RGBA")
    picture.quantize(256, Image.Quantize.FASTOCTREE).save(made, "PNG", optimize=True)
    return min(base64.b64encode(made.getvalue()).decode(), re.sub(r"\s", "", text), key=len)


def inline(svg: str, classes: str, alt: str, prefix: str) -> str:
    """An SVG of matplotlib for the page: its ids made unique, its colours by name, a title."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style[^>]*>\*\{.*?</style>", "", svg, flags=re.DOTALL)  # it is of every element
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'(xlink:href|href)="#', rf'\1="#{prefix}', svg)
    svg = svg.replace("url(#", f"url(#{prefix}")
    for colour, name in COLOURS.items():
        svg = svg.replace(colour, f"var({name})")
    svg = OTHER.sub(r"\1var(--c-\2, #\2)", svg)
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", "var(--sans)", svg)  # text is text: in the page's font
    svg = smaller(svg)
    head = re.match(r"<svg[^>]*viewBox=\"([^\"]+)\"[^>]*>", svg)
    points = float(head[1].split()[2])
    width = round(points * 4 / 3)
    px, room = PHONE if classes.endswith("tall") else DESK
    least = px * points / min(width, room)
    svg = SIZE.sub(lambda found: f"{found[1]}{max(float(found[2]), least):.4g}px", svg)
    # What has no variant for phones keeps its text readable there, and scrolls sideways.
    smallest = min((float(size) for _, size in SIZE.findall(svg)), default=99)
    kept = round(PHONE[0] * points / smallest)
    start = (
        f'<svg class="book-figure {classes}" role="img" '
        f'style="max-width: {width}px; --kept: {kept}px" aria-label="{alt}" viewBox="{head[1]}" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    return start + svg[head.end() :]
