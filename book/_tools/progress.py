"""How far `make book` is: chapters done of all, seconds taken, and how long the rest may take.

What each chapter took last time is kept in ``_build/seconds``, a file a chapter, and the chapters
of this build that have run in ``_build/finished``; the first time, the estimate is that of
``EXPECTED`` seconds a chapter.
"""

import os
import shutil
from pathlib import Path

EXPECTED = 20.0  # seconds a chapter, when nothing is known


class Progress:
    """A build, which has to run ``chapters``, ``jobs`` of them at once, with its record."""

    def __init__(self, folder: Path, chapters: list[str], jobs: int = 1):
        self.chapters, self.jobs = chapters, max(1, jobs)
        self.seconds, self.finished = folder / "seconds", folder / "finished"

    def last(self, chapter: str) -> float | None:
        try:
            return float((self.seconds / file_of(chapter)).read_text())
        except (OSError, ValueError):
            return None

    def to_do(self) -> list[str]:
        return [c for c in self.chapters if not (self.finished / file_of(c)).exists()]

    def remaining(self) -> float:
        """Seconds that the chapters still to be done took last time, shared by the jobs."""
        rest = [EXPECTED if (t := self.last(c)) is None else t for c in self.to_do()]
        return max(sum(rest) / self.jobs, max(rest, default=0.0))

    def start(self) -> str:
        """Begin a build; says how many chapters there are and how long they may take."""
        shutil.rmtree(self.finished, ignore_errors=True)
        if not self.chapters:
            return "every chapter is up to date"
        known = None not in map(self.last, self.chapters)
        noun = "chapter" if len(self.chapters) == 1 else "chapters"
        source = "as last time" if known else "estimated"
        return f"{len(self.chapters)} {noun} to run: {in_words(self.remaining())} ({source})"

    def done(self, chapter: str, seconds: float) -> str:
        """A chapter has run; says how far the build is."""
        for folder in (self.seconds, self.finished):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / file_of(chapter)).write_text(f"{seconds:.1f}")
        line = f"{chapter}: done in {seconds:.0f} s"
        if not self.chapters:
            return line
        n = len(self.chapters) - len(self.to_do())
        line = f"{n} of {len(self.chapters)}  {line}"
        return line + (f", {in_words(self.remaining())} left" if n < len(self.chapters) else "")


def file_of(chapter: str) -> str:
    return f"{chapter.replace('/', '+')}.txt"


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
