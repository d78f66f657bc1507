"""Run one chapter with papermill at its default scale, for the page to be rendered from.

    python book/_tools/run_chapter.py book/learn/03_ais.ipynb _build/src/book/learn/03_ais.ipynb

The result appears under its final name only when every cell has run: a run that fails or is
killed leaves `<name>.partial.ipynb` for inspection and no target. Beside it stands `<name>.d`, by
which Make knows what files of the repository the chapter has read.
"""

import os
import re
import sys
import time
from pathlib import Path

import papermill
import progress
from papermill.exceptions import PapermillExecutionError

ROOT = Path(__file__).resolve().parents[2]
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def main(source: Path, target: Path) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    name = progress.name_of(source)
    partial, notes = target.with_suffix(".partial.ipynb"), target.with_suffix(".reads")
    notes.unlink(missing_ok=True)
    reads = str(Path(__file__).with_name("reads"))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([reads, *([before] if before else [])])
    os.environ |= {"BOOK_READS": str(notes.resolve()), "BOOK_ROOT": str(ROOT)}
    start = time.monotonic()
    try:
        papermill.execute_notebook(
            str(source),
            str(partial),
            cwd=str(source.parent),
            progress_bar=False,
            kernel_name="python3",
            # papermill writes the whole notebook before and after each cell and every half minute
            request_save_on_cell_execute=False,
            autosave_cell_every=0,
            # a kernel that is told to end while it replies logs the interrupt as an error
            extra_arguments=["--log-level=CRITICAL"],
        )
    except PapermillExecutionError as error:
        print(
            f"\n{name}: failed in cell {error.cell_index}: {error.ename}: {error.evalue}",
            file=sys.stderr,
        )
        print(ANSI.sub("", "\n".join(error.traceback)), file=sys.stderr)
        print(f"{name}: the notebook up to the error is {partial}", file=sys.stderr)
        return 1
    os.replace(partial, target)
    target.with_suffix(".d").write_text(rule(target, notes), encoding="utf-8")
    seconds = time.monotonic() - start
    print(progress.from_environment().done(name, seconds), flush=True)
    return 0


def rule(target: Path, notes: Path) -> str:
    """What the chapter read, as a rule of Make; files that are gone by then do not stop it."""
    read = sorted(set(notes.read_text(encoding="utf-8").split("\n")) - {""})
    notes.unlink()
    kept = [name for name in read if (ROOT / name).is_file() and " " not in name]
    return "".join([f"{target}: {' '.join(kept)}\n", *(f"{name}:\n" for name in kept)])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
