"""Run one chapter with papermill at its default scale, for the page to be rendered from.

    python book/_tools/run_chapter.py book/ais.ipynb _build/src/book/ais.ipynb

The result appears under its final name only when every cell has run: a run that fails or is
killed leaves `<name>.partial.ipynb` for inspection and no target.
"""

import os
import re
import sys
import time
from pathlib import Path

import papermill
import progress
from papermill.exceptions import PapermillExecutionError

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def main(source: Path, target: Path) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial.ipynb")
    start = time.monotonic()
    try:
        papermill.execute_notebook(
            str(source),
            str(partial),
            cwd=str(source.parent),
            progress_bar=False,
            kernel_name="python3",
        )
    except PapermillExecutionError as error:
        print(
            f"\n{source.stem}: failed in cell {error.cell_index}: {error.ename}: {error.evalue}",
            file=sys.stderr,
        )
        print(ANSI.sub("", "\n".join(error.traceback)), file=sys.stderr)
        print(f"{source.stem}: the notebook up to the error is {partial}", file=sys.stderr)
        return 1
    os.replace(partial, target)
    seconds = time.monotonic() - start
    print(progress.from_environment().done(source.stem, seconds), flush=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
