"""The fold "Run this page yourself" at the end of a lesson.

Papermill wants the parameters of a notebook first, a reader wants them last. Cells tagged
``parameters`` or ``run`` stay where they are in the notebook; on the page they stand in this fold,
after its first paragraph, with what they print.
"""

from docutils import nodes

TITLE = "Run this page yourself"
MOVED = {"tag_parameters", "tag_run"}


def gather(app, doctree) -> None:
    folds = [box for box in doctree.findall(nodes.admonition) if box.children[0].astext() == TITLE]
    if not folds:
        return
    cells = [
        cell
        for cell in doctree.findall(nodes.container)
        if cell.get("nb_element") == "cell_code" and MOVED & set(cell["classes"])
    ]
    for cell in cells:
        cell.parent.remove(cell)
    folds[0][2:2] = cells


def setup(app) -> None:
    app.connect("doctree-read", gather)
