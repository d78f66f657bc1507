"""The fold "Run this page yourself" at the end of a lesson.

Papermill wants the parameters of a notebook first, a reader wants them last. Cells tagged
``parameters`` or ``run`` stay where they are in the notebook. On the page they stand in this fold
with what they print, after its first paragraph; and so do, at its end, the cells that come after
it, which check what the page says. Parameters that visible lines use are tagged ``shown`` and stay.
"""

from docutils import nodes

TITLE = "Run this page yourself"
MOVED = {"tag_parameters", "tag_run"}


def gather(app, doctree) -> None:
    order = list(doctree.findall(nodes.Element))
    folds = [node for node in order if isinstance(node, nodes.admonition) and _title(node) == TITLE]
    if not folds:
        return
    cells = [node for node in order if node.get("nb_element") == "cell_code"]
    after = [cell for cell in cells if order.index(cell) > order.index(folds[0])]
    moved = [c for c in cells if MOVED & set(c["classes"]) and "tag_shown" not in c["classes"]]
    first = [cell for cell in moved if cell not in after]
    for cell in first + after:
        cell.parent.remove(cell)
    folds[0][2:2] = first
    folds[0].extend(after)


def _title(box: nodes.admonition) -> str:
    return box[0].astext() if len(box) else ""


def setup(app) -> None:
    app.connect("doctree-read", gather)
