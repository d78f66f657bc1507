"""Colour images: CIFAR-10, the coding of the committed subset, standardisation."""

import hashlib
import io
import tarfile

import make_cifar10
import numpy as np
import pytest

from rbmbook import images
from rbmlib.datasets import DataCorrupt, committed
from rbmlib.datasets.register import Remote

RNG = np.random.default_rng(0)
SMALL = RNG.integers(0, 256, (4, images.N_PIXELS), np.uint8)
LABELS = np.array([3, 0, 9, 1], np.uint8)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_subset_is_the_beginning_of_each_class():
    data = images.load_cifar10()
    assert data.train.shape == (2000, 3072)
    assert data.test.shape == (500, 3072)
    assert data.train.dtype == np.uint8
    assert np.bincount(data.train_labels).tolist() == [200] * 10
    assert np.bincount(data.test_labels).tolist() == [50] * 10
    # the first image of data_batch_1: a frog, whose first red values are 59 43 50
    assert data.label_names[data.train_labels[0]] == "frog"
    assert data.train[0, :3].tolist() == [59, 43, 50]
    assert data.train[0, ::1024].tolist() == [59, 62, 63]  # red, green and blue of a corner


def test_differences_lose_nothing():
    np.testing.assert_array_equal(images.from_differences(make_cifar10.differences(SMALL)), SMALL)
    flat = np.full((1, images.N_PIXELS), 77, np.uint8)
    assert np.count_nonzero(make_cifar10.differences(flat)) == 1


def cifar_files(monkeypatch) -> dict[str, bytes]:
    """Six small files in the form of CIFAR-10's, registered in place of the real ones."""
    files = {}
    for i, name in enumerate(images.CIFAR_BATCHES):
        files[name] = make_cifar10.written(SMALL + np.uint8(i), LABELS)
        monkeypatch.setitem(images.CIFAR_BATCHES, name, sha256(files[name]))
    return files


def check_full(data):
    assert data.train.shape == (20, 3072)
    np.testing.assert_array_equal(data.train[4:8], SMALL + np.uint8(1))
    np.testing.assert_array_equal(data.test, SMALL + np.uint8(5))
    assert data.train_labels.tolist() == LABELS.tolist() * 5
    with pytest.raises(ValueError, match="read-only"):
        data.train[0] = 1


def test_full_set_from_unpacked_files(data_folders, monkeypatch):
    folder = data_folders.own / images.CIFAR_FOLDER
    folder.mkdir()
    for name, content in cifar_files(monkeypatch).items():
        (folder / name).write_bytes(content)
    check_full(images.load_cifar10.__wrapped__(full=True))
    (folder / "test_batch.bin").write_bytes(b"other")
    with pytest.raises(DataCorrupt, match=r"test_batch\.bin is damaged"):
        images.load_cifar10.__wrapped__(full=True)


def test_full_set_from_the_archive(data_folders, monkeypatch):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in cifar_files(monkeypatch).items():
            entry = tarfile.TarInfo(f"{images.CIFAR_FOLDER}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    name = "cifar-10-binary.tar.gz"
    (data_folders.own / name).write_bytes(buffer.getvalue())
    remote = Remote(name, "https://x/" + name, sha256(buffer.getvalue()))
    monkeypatch.setattr(images, "CIFAR10", remote)
    check_full(images.load_cifar10.__wrapped__(full=True))
    assert [path.name for path in data_folders.own.iterdir()] == [name]


def test_the_committed_scale_is_that_of_all_training_images():
    data, scale = images.load_cifar10(), np.load(committed("cifar10/scale.npz"))
    np.testing.assert_allclose(scale["mean"], data.train.mean(axis=0), atol=8)
    np.testing.assert_allclose(scale["std"], data.train.std(axis=0), atol=5)
    assert np.any(scale["mean"] != data.train.mean(axis=0))
    found = images.cifar10_scale()(data.test)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, (data.test - scale["mean"]) / scale["std"], atol=1e-5)
