"""How far `make book` is: chapters done of all, seconds taken, and how long the rest may take.

What each chapter took last time is kept in ``_build/seconds.json``; the first time, the estimate is
that of ``EXPECTED`` seconds a chapter.
"""

import contextlib
import fcntl
import json
import os
from pathlib import Path

EXPECTED = 20.0  # seconds a chapter, when nothing is known


class Progress:
    """The record of one build, shared by chapters that run at the same time.

    ``folder`` holds it; ``chapters`` are those that this build has to run, ``jobs`` of them at
    once.
    """

    def __init__(self, folder: Path, chapters: list[str], jobs: int = 1):
        self.file, self.chapters, self.jobs = folder / "seconds.json", chapters, max(1, jobs)

    @contextlib.contextmanager
    def _record(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with open(self.file.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            record = {"last": {}, "done": []}
            with contextlib.suppress(OSError, ValueError):
                record = json.loads(self.file.read_text(encoding="utf-8"))
            yield record
            temporary = self.file.with_suffix(".tmp")
            temporary.write_text(json.dumps(record, indent=1), encoding="utf-8")
            os.replace(temporary, self.file)

    def _remaining(self, record) -> float:
        """Seconds that the chapters still to be done took last time, shared by the jobs."""
        rest = [record["last"].get(c, EXPECTED) for c in self.chapters if c not in record["done"]]
        return max(sum(rest) / self.jobs, max(rest, default=0.0))

    def start(self) -> str:
        """Begin a build; says how many chapters there are and how long they may take."""
        with self._record() as record:
            record["done"] = []
            known = sum(chapter in record["last"] for chapter in self.chapters)
            seconds = self._remaining(record)
        if not self.chapters:
            return "every chapter is up to date"
        source = "as last time" if known == len(self.chapters) else "estimated"
        noun = "chapter" if len(self.chapters) == 1 else "chapters"
        return f"{len(self.chapters)} {noun} to run: {in_words(seconds)} ({source})"

    def done(self, chapter: str, seconds: float) -> str:
        """A chapter has run; says how far the build is."""
        with self._record() as record:
            record["last"][chapter] = round(seconds, 1)
            record["done"] = [*(c for c in record["done"] if c != chapter), chapter]
            n = sum(c in record["done"] for c in self.chapters)
            rest = self._remaining(record)
        if not self.chapters:
            return f"{chapter}: done in {seconds:.0f} s"
        line = f"{n} of {len(self.chapters)}  {chapter}: done in {seconds:.0f} s"
        return line + (f", {in_words(rest)} left" if n < len(self.chapters) else "")


def in_words(seconds: float) -> str:
    """About how long, as a person would say it."""
    if seconds < 90:
        return f"about {max(5, 5 * round(seconds / 5))} s"
    return f"about {seconds / 60:.0f} minutes"


def name_of(chapter: Path) -> str:
    """Of book/check/wang.ipynb, for example, check/wang."""
    return chapter.with_suffix("").as_posix().removeprefix("book/")


def from_environment() -> Progress:
    """As the Makefile hands it on: BOOK_CHAPTERS (may be missing) and BOOK_JOBS."""
    chapters = [name_of(Path(name)) for name in os.environ.get("BOOK_CHAPTERS", "").split()]
    return Progress(Path("_build"), chapters, int(os.environ.get("BOOK_JOBS", "1")))


if __name__ == "__main__":
    print(from_environment().start(), flush=True)
