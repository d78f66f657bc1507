"""``data``: which data sets and models there are, and where."""

from __future__ import annotations

from .. import datasets
from . import say


def add_to(commands) -> None:
    parser = commands.add_parser("data", help="list data sets and models, and where they are")
    parser.set_defaults(run=run)


def run(options) -> int:
    say("data sets, committed: MNIST (load_mnist), DNA (load_dna); fetched: course_test")
    say("RBMs:")
    for info in datasets.list_rbms():
        say(f"  {info.name:24} {info.n_visible} x {info.n_hidden:<5} {info.where}")
    say(f"published models are fetched into {datasets.cache_folder()}, or read from $RBMLIB_DATA")
    return 0
