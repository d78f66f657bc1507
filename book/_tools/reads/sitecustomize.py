"""Note which files of the repository a chapter reads.

Python imports this by itself where its folder is on PYTHONPATH: `run_chapter.py` puts it there for
a kernel, and Make then runs the chapter again only if one of those files has changed.
"""

import os
import re
import sys

NOTES, ROOT = os.environ.get("BOOK_READS", ""), os.environ.get("BOOK_ROOT", "")
LEFT_OUT = re.compile(  # what is made, such as loops that numba has compiled
    r"[/\\](\.venv|\.git|_build|\.ipynb_checkpoints|__pycache__)[/\\]|\.sqlite"
)
noted: set[str] = set()


def note(event: str, arguments: tuple) -> None:
    if event != "open" or not isinstance(arguments[0], str):
        return
    path, mode = os.path.abspath(arguments[0]), str(arguments[1])
    if path in noted or not path.startswith(ROOT + os.sep) or set(mode) & set("wax+"):
        return
    noted.add(path)
    source = re.sub(r"[/\\]__pycache__([/\\][^./\\]+)\.[^/\\]+$", r"\1.py", path)
    if LEFT_OUT.search(source):
        return
    with open(NOTES, "a", encoding="utf-8") as file:  # at once: a kernel may be killed at its end
        file.write(os.path.relpath(source, ROOT) + "\n")


if NOTES and ROOT:
    sys.addaudithook(note)
