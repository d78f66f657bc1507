"""What a lesson shows can be retyped: it runs in an empty notebook, without `rbmbook`."""

import sys

import matplotlib.pyplot as plt
import pytest
from helpers_book import chapter_called, open_cells, read, source, tags
from test_chapters_papermill import small_parameters

LESSONS = ["start", "mcmc_basics", "ais", "varopt", "rts", "rts_continuous", "sams", "tap"]
LESSONS += ["tracking", "leaky_rbm", "proteins", "failures"]
HIDDEN = {"run", "check"}


@pytest.mark.chapters
@pytest.mark.parametrize("name", LESSONS)
def test_the_code_that_a_lesson_shows_runs_alone(name, monkeypatch):
    path = chapter_called(name)
    monkeypatch.setitem(sys.modules, "rbmbook", None)  # to import it is an ImportError
    namespace: dict = {"__name__": "__main__"}
    for cell in open_cells(read(path)["cells"]):
        if cell["cell_type"] == "code" and not HIDDEN & set(tags(cell)):
            exec(compile(source(cell), f"{name}: {cell['id']}", "exec"), namespace)
            namespace |= small_parameters(path) if "parameters" in tags(cell) else {}
    plt.close("all")
