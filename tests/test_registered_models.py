"""Models and images by name or from a path, and where each of them is."""

import hashlib

import numpy as np
import pytest
from helpers_published import CONTENT, SHA256

from rbmbook import images
from rbmlib import datasets
from rbmlib.datasets import register as _register
from rbmlib.datasets.register import Remote


def test_load_course_test(data_folders, monkeypatch):
    from scipy.io import savemat

    rows = np.random.default_rng(0).integers(0, 2, size=(6, 4), dtype=np.uint8)
    batches = rows.reshape(2, 3, 4).transpose(1, 2, 0)  # (image in batch, pixel, batch)
    savemat(data_folders.own / "test.mat", {"testbatchdata": batches})
    sha256 = hashlib.sha256((data_folders.own / "test.mat").read_bytes()).hexdigest()
    monkeypatch.setitem(_register.REMOTE, "course_test", Remote("test.mat", "https://x/", sha256))
    found = images.load_course_test.__wrapped__()
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, rows)
    assert not found.flags.writeable


def test_load_rbm_from_a_path_and_by_name(data_folders, monkeypatch):
    rng = np.random.default_rng(1)
    weights, visible, hidden = rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=3)
    path = data_folders.own / "mine.npz"
    np.savez(path, weights=weights, visible_bias=visible, hidden_bias=hidden)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setitem(_register.REMOTE, "h10", Remote("mine.npz", "https://x/", sha256))
    for source in (path, str(path), "h10"):
        rbm = datasets.load_rbm(source)
        np.testing.assert_array_equal(rbm.weights, weights)
        np.testing.assert_array_equal(rbm.visible_bias, visible)
        np.testing.assert_array_equal(rbm.hidden_bias, hidden)


def test_unknown_rbm_names_the_known_ones():
    with pytest.raises(
        ValueError, match=r"name_or_path is 'h_500', neither .*RBM \(did you mean 'h500'\?\)"
    ) as caught:
        datasets.load_rbm("h_500")
    names = [*_register.COMMITTED_RBMS, *_register.PUBLISHED_RBMS]
    assert f"expected one of {', '.join(names)}; or the path of an .npz" in str(caught.value)


def test_list_rbms_says_where_each_is(data_folders, monkeypatch):
    for name in ("h10", "h20"):
        monkeypatch.setitem(_register.REMOTE, name, Remote(name, "https://x/", SHA256))
    (data_folders.own / "h10").write_bytes(CONTENT)
    (data_folders.own / "h20").write_bytes(CONTENT + b"!")
    listed = {info.name: info for info in datasets.list_rbms()}
    assert listed["h10"] == ("h10", 784, 10, "fetched")
    assert listed["h20"] == ("h20", 784, 20, "damaged")
    assert listed["h500"] == ("h500", 784, 500, "not here")
    assert {listed[name].where for name in _register.COMMITTED_RBMS} <= {"committed"}
