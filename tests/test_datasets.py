"""Committed data sets: contents, checks of SHA-256, and the registers."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rbmlib import datasets
from rbmlib.datasets import DataCorrupt
from rbmlib.datasets import register as _register

DATA = Path(__file__).parents[1] / "data"


def test_mnist_is_the_genuine_one():
    data = datasets.load_mnist()
    assert data.train.shape == (60000, 784)
    assert data.test.shape == (10000, 784)
    assert {data.train.dtype, data.test.dtype, data.train_labels.dtype} == {np.dtype(np.uint8)}
    assert data.train.max() == data.test.max() == 1
    assert np.bincount(data.train_labels).tolist() == [
        5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949
    ]  # fmt: skip
    assert np.bincount(data.test_labels).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009
    ]  # fmt: skip
    assert data.label_names == tuple("0123456789")


def test_mnist_bits_and_labels_belong_together():
    """Images of a 1 have fewest pixels; the first training image is the well-known 5."""
    data = datasets.load_mnist()
    on = data.train.sum(axis=1)
    means = [on[data.train_labels == digit].mean() for digit in range(10)]
    assert np.argmin(means) == 1
    assert np.argmax(means) == 0
    assert data.train_labels[:5].tolist() == [5, 0, 4, 1, 9]
    # Row 5 of that 5, where the grey levels are 3 18 18 18 126 136 175 26 166 255 247 127.
    assert np.flatnonzero(data.train[0].reshape(28, 28)[5]).tolist() == [17, 18, 20, 21, 22]


def test_dna():
    data = datasets.load_dna()
    assert data.train.shape == (2000, 180)
    assert data.test.shape == (1186, 180)
    assert data.label_names == ("ei", "ie", "n")
    assert np.bincount(data.train_labels).tolist() == [464, 485, 1051]
    assert np.bincount(data.test_labels).tolist() == [303, 280, 603]
    labels = np.concatenate([data.train_labels, data.test_labels])
    assert np.bincount(labels).tolist() == [767, 765, 1654]


def test_dna_bits_code_nucleotides():
    """No nucleotide has two bits; introns begin with GT and end with AG at the junction."""
    data = datasets.load_dna()
    triples = data.train.reshape(2000, 60, 3)
    assert triples.sum(axis=2).max() == 1
    symbols = np.where(triples.any(axis=2), np.array(list("ACG"))[triples.argmax(axis=2)], "T")
    windows = np.array(["".join(row) for row in symbols])
    donors = windows[data.train_labels == 0]
    acceptors = windows[data.train_labels == 1]
    assert np.mean([window[30:32] == "GT" for window in donors]) > 0.95
    assert np.mean([window[28:30] == "AG" for window in acceptors]) > 0.95


def test_a_data_set_is_shown_in_a_line():
    assert (
        repr(datasets.load_mnist()) == "<Dataset: train 60,000 x 784, test 10,000 x 784, 10 labels>"
    )


@pytest.mark.parametrize("load", [datasets.load_mnist, datasets.load_dna])
def test_data_are_cached_and_read_only(load):
    data = load()
    assert load() is data
    for name in ("train", "test", "train_labels", "test_labels"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(data, name)[0] = 1
    with pytest.raises(AttributeError):
        data.train = None


def test_every_npz_is_registered_unpickled_and_in_the_readme():
    files = {path.relative_to(DATA).as_posix(): path for path in DATA.rglob("*.npz")}
    assert files.keys() == _register.COMMITTED.keys()
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    for name, path in files.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == _register.COMMITTED[name]
        assert _register.COMMITTED[name] in readme, name
        with np.load(path, allow_pickle=False) as arrays:
            assert all(arrays[key].dtype != object for key in arrays)


def test_every_published_table_is_in_the_readme():
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    tables = sorted((DATA / "published").glob("*.csv"))
    assert len(tables) == 10
    for path in tables:
        assert f"`{path.name}`" in readme
    for path in set(tables) - {DATA / "published" / "claims.csv"}:
        assert hashlib.sha256(path.read_bytes()).hexdigest() in readme, path.name


def test_committed_rbms_have_the_registered_shape():
    for name, shape in _register.COMMITTED_RBMS.items():
        with np.load(datasets.committed(f"models/{name}.npz"), allow_pickle=False) as arrays:
            assert arrays["weights"].shape == shape, name


def test_wheel_layout_comes_first(tmp_path, monkeypatch):
    package = tmp_path / "rbmlib"
    package.mkdir()
    monkeypatch.setattr(datasets.files, "__file__", str(package / "datasets" / "files.py"))
    assert datasets.files._data_folder() == tmp_path / "data"
    (package / "_data").mkdir()
    assert datasets.files._data_folder() == package / "_data"


@pytest.fixture
def data_copy(tmp_path, monkeypatch):
    """A writable copy of the DNA file, in the place of the data folder."""
    path = tmp_path / "data" / "dna" / "dna_binary.npz"
    path.parent.mkdir(parents=True)
    path.write_bytes((DATA / "dna" / "dna_binary.npz").read_bytes())
    monkeypatch.setattr(datasets.files, "_data_folder", lambda: tmp_path / "data")
    return path


def test_committed_file_is_accepted_untouched(data_copy):
    assert datasets.committed("dna/dna_binary.npz") == data_copy
    assert datasets.load_dna.__wrapped__().train.sum() == datasets.load_dna().train.sum()


@pytest.mark.parametrize("damage", ["bit", "truncated", "longer"])
def test_damaged_committed_file_is_refused_by_name(data_copy, damage):
    content = data_copy.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
    damaged = {"bit": flipped, "truncated": content[:middle], "longer": content + b"\0"}
    data_copy.write_bytes(damaged[damage])
    with pytest.raises(DataCorrupt, match=r"dna_binary\.npz is damaged.*git checkout"):
        datasets.load_dna.__wrapped__()


def test_missing_and_unregistered_committed_files(data_copy):
    data_copy.rename(data_copy.with_name("other.npz"))
    with pytest.raises(DataCorrupt, match=r"dna_binary\.npz is missing; restore"):
        datasets.load_dna.__wrapped__()
    with pytest.raises(DataCorrupt, match=r"other\.npz is not in the register"):
        datasets.committed("dna/other.npz")


def test_committed_text_file():
    first = datasets.committed("published/varopt_table1.csv").read_text().splitlines()[0]
    assert first == "model,schedule,logz_exact,logz_hat,ess"


@pytest.mark.parametrize("file", ["../README.md", "published/../../x.csv", "/etc/passwd"])
def test_no_file_beside_the_data_folder_is_given(file):
    with pytest.raises(ValueError, match=rf"file is '{file}': expected a path in the data folder"):
        datasets.committed(file)


@pytest.mark.parametrize("file", ["", "."])
def test_the_data_folder_itself_is_no_file(file):
    with pytest.raises(ValueError, match=rf"file is '{file}': expected a path in the data folder"):
        datasets.committed(file)


def test_registers_agree():
    assert set(_register.PUBLISHED_RBMS) <= set(_register.REMOTE)
    assert {f"models/{name}.npz" for name in _register.COMMITTED_RBMS} <= set(_register.COMMITTED)
    assert len({remote.file for remote in _register.REMOTE.values()}) == len(_register.REMOTE)
    for remote in _register.REMOTE.values():
        assert remote.url.startswith("https://")
        assert remote.url.endswith("/" + remote.file)
        assert len(bytes.fromhex(remote.sha256)) == 32


def test_committed_data_need_no_pooch():
    """Importing pooch prints a warning in notebooks without widgets, so chapters must not."""
    load = "import sys; from rbmlib import datasets; datasets.load_dna();"
    code = load + "sys.exit('pooch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
