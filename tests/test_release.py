"""What is released: the wheel's content, the public interface, metadata, templates, pages."""

import json
import re
import tomllib

import articles
import check_pages
import pytest
import yaml
from helpers_interface import RECORD, interface, read

import rbmlib as rl
from rbmbook import judge
from rbmlib import datasets
from rbmlib.datasets import files, register


@pytest.fixture
def installed(repository):
    """Files of data/ that the wheel brings, by their path there."""
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["rbmlib._data"]
    data = repository / "data"
    return {str(path.relative_to(data)): path for p in patterns for path in data.glob(p)}


def test_the_wheel_has_what_an_estimate_needs(installed):
    needed = ["mnist/mnist_binary.npz", "dna/dna_binary.npz"]
    needed += [f"models/{name}.npz" for name in ("pcd_10", "pcd_20", "cd1_20", "cd25_20")]
    needed += ["models/pcd_200.npz", "models/dna_cd1_500.npz", "models/models.json"]
    assert set(needed) <= set(installed)
    assert not [name for name in installed if name.startswith(("results/", "cifar10/"))]


@pytest.fixture
def without_the_checkout(monkeypatch, tmp_path, installed):
    """The library as the wheel installs it: a folder _data with the files of the wheel only."""
    folder = tmp_path / files.INSTALLED
    for name, path in installed.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(path)
    monkeypatch.setattr(files, "_data_folder", lambda: folder)
    monkeypatch.delenv("RBMLIB_DATA", raising=False)


def test_what_is_not_installed_says_where_it_is(without_the_checkout, repository, monkeypatch):
    assert rl.load_rbm("pcd_20").n_hidden == 20
    with pytest.raises(datasets.DataUnavailable, match="RBMLIB_DATA") as caught:
        rl.load_rbm("cd1_500")
    assert register.COMMITTED["models/cd1_500.npz"] in str(caught.value)
    with pytest.raises(datasets.DataUnavailable, match=r"results/exact\.csv"):
        datasets.committed("results/exact.csv")
    where = {info.name: info.where for info in datasets.list_rbms()}
    assert where["cd1_500"] == "not here"
    assert where["pcd_20"] == "committed"
    monkeypatch.setenv("RBMLIB_DATA", str(repository / "data"))
    assert rl.load_rbm("cd1_500").n_hidden == 500


def test_a_file_of_the_users_folder_is_checked(without_the_checkout, monkeypatch, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "cd1_500.npz").write_bytes(b"another file")
    monkeypatch.setenv("RBMLIB_DATA", str(tmp_path))
    with pytest.raises(datasets.DataCorrupt, match="the file of the repository"):
        rl.load_rbm("cd1_500")


def test_promises_of_the_public_interface_are_kept():
    """What is gone or changed breaks programs; what is new: python tests/helpers_interface.py."""
    assert interface() == read(RECORD.read_text(encoding="utf-8"))


CHANGES = [
    (None, None, "not rendered"),
    ("<article>", "<div>", "without any content"),
    ("<img>", "", "0 figures: its notebook has 1"),
    ("thing", "other", "heading"),
    ("<img>", "<img>Traceback (most recent call last)", "error stands"),
]


def test_a_page_that_is_missing_or_empty_is_found(tmp_path):
    picture = {"output_type": "display_data", "data": {"image/png": ""}}
    cells = [{"cell_type": "markdown", "source": ["# One $x$ thing"]},
             {"cell_type": "code", "source": [], "outputs": [picture]}]  # fmt: skip
    (tmp_path / "one.ipynb").write_text(json.dumps({"cells": cells}))
    whole = '<article><h1><span>1. </span>One \\(x\\) thing<a class="headerlink"></a></h1><img>'
    for before, after, said in CHANGES:
        (tmp_path / "one.html").write_text(f"{whole}</article>")
        assert check_pages.faults("one", tmp_path, tmp_path) == []
        if before is None:
            (tmp_path / "one.html").unlink()
        else:
            (tmp_path / "one.html").write_text(f"{whole}</article>".replace(before, after))
        (found,) = check_pages.faults("one", tmp_path, tmp_path)
        assert said in found


def test_articles_take_their_numbers_from_the_verdicts(repository, monkeypatch, tmp_path):
    for path in articles.TEXTS.glob("*.md"):
        _, head, text = path.read_text(encoding="utf-8").split("---\n", 2)
        front = yaml.safe_load(head)
        assert not re.search(r"(?<![\w-])\d+\.\d", text), path.name
        assert all(
            (repository / "book" / f"{c}.ipynb").is_file() for c in front["chapters"].split(", ")
        )
    front = {"source": "Kiwaki", "title": "T", "citation": "W", "doi": "", "chapters": "c",
             "keywords": "k"}  # fmt: skip
    titles = []
    for outcome in (articles.REPRODUCED, articles.CONTRADICTED):
        found = judge.left_open("kiwaki-eq9", "a run")._replace(outcome=outcome)
        monkeypatch.setattr(articles, "verdicts_of", lambda _, v=found: {v.name: (v, "check/x")})
        title, page = articles.article(front, "text", tmp_path)
        titles.append(title)
        assert re.search(rf"1 have a verdict: 1 {outcome}. \d+ more have no verdict.", page)
        assert f"<td>{articles.SYMBOLS[outcome]} {outcome}</td>" in page
    assert titles == ["[Re] T", "[¬Re] T"]
