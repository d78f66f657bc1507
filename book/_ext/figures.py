"""Figures that stand in the page as SVG, so that their colours follow its theme.

`rbmbook.plots.show` writes one SVG an output, with a variant for phones in its metadata.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

IMAGE = re.compile(r'<img\b[^>]*\bsrc="([^"]*\.svg)"[^>]*>')
TALL = re.compile(r"book-tall:([A-Za-z0-9+/=]+)")

# Colours of plots.py, and the names under which book.css gives them in both themes.
COLOURS = {
    "#000000": "--fig-ink", "#0b5394": "--fig-blue", "#c55a11": "--fig-orange",
    "#2e7d32": "--fig-green", "#5f6368": "--fig-grey", "#b3261e": "--fig-red",
    "#3d8fd1": "--fig-sky", "#8a6d00": "--fig-gold", "#b0b0b0": "--fig-grid",
}  # fmt: skip


def inlined(html: str, page: Path) -> tuple[str, int]:
    """The page with its figures in place of links to their files, and how many there were."""
    count = 0

    def put(match) -> str:
        nonlocal count
        path = (page.parent / match[1]).resolve()
        text = path.read_text("utf-8", "ignore") if path.is_file() else ""
        if "matplotlib" not in text:
            return match[0]
        count += 1
        alt, own = _attribute("alt", match[0]), _attribute("class", match[0])
        tall = TALL.search(text)
        made = inline(text, f"{own} wide".strip() if tall else own, alt, f"f{count}w-")
        if tall:
            inner = base64.b64decode(tall[1]).decode()
            made += inline(inner, f"{own} tall".strip(), alt, f"f{count}t-")
        return made

    return IMAGE.sub(put, html), count


def _attribute(name: str, tag: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return found[1] if found else ""


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
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", "var(--sans)", svg)  # text is text: in the page's font
    head = re.match(r"<svg[^>]*viewBox=\"([^\"]+)\"[^>]*>", svg)
    start = (
        f'<svg class="book-figure {classes}" role="img" aria-label="{alt}" viewBox="{head[1]}" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    return start + svg[head.end() :]
