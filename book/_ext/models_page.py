"""The page of models: a row a model with its size, training, log Z and what it dreams; and links.

A model's name that stands as code in a text becomes a link to its row.
"""

import html
from pathlib import Path

import numpy as np
from docutils import nodes
from PIL import Image
from sphinx import addnodes

from rbmbook import datasheet, load_reference, tables
from rbmlib import datasets

MARK, PAGE = "<!-- the models -->", "book/models"
GAP = 2  # pixels between two pictures
WHITE = 1  # of 255: mean ink of a blank page


def page() -> str:
    """HTML: one article a model, small ones first."""
    with np.load(datasets.committed("dreams.npz")) as dreams:
        ink = {name: float(images.mean()) for name, images in dreams.items()}
    cards = "\n".join(_card(row, ink.get(row["model"])) for row in datasheet().to_dict("records"))
    return f'```{{raw}} html\n<div class="models">\n{cards}\n</div>\n```'


def draw(folder: Path) -> None:
    """A PNG a model: its dreams in a row, black on white."""
    folder.mkdir(parents=True, exist_ok=True)
    with np.load(datasets.committed("dreams.npz")) as dreams:
        for name, images in dreams.items():
            side = int(np.sqrt(images.shape[1]))
            grid = np.pad(255 - images.reshape(-1, side, side), ((0, 0), (0, 0), (0, GAP)),
                          constant_values=255)  # fmt: skip
            Image.fromarray(np.hstack(list(grid))).save(folder / f"{name}.png", optimize=True)


def _card(row: dict, ink: float | None) -> str:
    name = row["model"]
    updates = "" if row["updates"] is None or row["updates"] != row["updates"] else row["updates"]
    trained = row["trained by"] + (f", {updates:,} updates" if updates else "")
    picture = (
        f'<img class="dreams" src="../_images/dreams/{name}.png" width="359" height="28" '
        f'alt="Twelve images that this model draws.">' if ink is not None else ""
    )  # fmt: skip
    if ink is not None and ink < WHITE:
        picture += (
            "<p>Its chains end on blank images, because CD trains a model only near the data.</p>"
        )
    return (
        f'<section class="model" id="{name}"><h3><code>{name}</code></h3>'
        f"<p>{row['visible']:,} × {row['hidden']:,} units, {html.escape(row['data'])}, "
        f"{html.escape(trained)}</p><p>log Z: {_log_z(row)}</p>{picture}</section>"
    )


def _log_z(row: dict) -> str:
    if not np.isfinite(row["log Z"]):
        return "not settled"
    if row["s.e."] == 0:
        return f"<b>{row['log Z']:.4f}</b>, exact"
    return f"<b>{tables.with_error(row['log Z'], row['s.e.'])}</b>, {row['known by']}"


def link_names(app, doctree, docname) -> None:
    """Names of models that stand as code become links to their rows; not in titles or links."""
    if docname == PAGE:
        return
    names = {*load_reference()}
    for literal in list(doctree.findall(nodes.literal)):
        inside = (nodes.reference, nodes.title, nodes.pending)
        parents = [literal.parent, getattr(literal.parent, "parent", None)]
        if literal.astext() not in names or any(isinstance(p, inside) for p in parents):
            continue
        target = f"{app.builder.get_relative_uri(docname, PAGE)}#{literal.astext()}"
        link = nodes.reference("", "", refuri=target, internal=True, classes=["model-name"])
        literal.replace_self(link)
        link += literal


def index_names(app, doctree) -> None:
    """Entries of an index: the search leads from each name to the row of its model."""
    if app.env.docname == PAGE:
        names = [("single", name, name, "main", None) for name in load_reference()]
        doctree[0].append(addnodes.index(entries=names))


def draw_all(app, exception) -> None:
    """Into the built pages, since Sphinx does not collect the pictures of raw HTML."""
    if exception is None:
        draw(Path(app.outdir, "_images", "dreams"))
