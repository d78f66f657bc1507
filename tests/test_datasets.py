"""Data sets: contents, checks of SHA-256, registers; published files, from a loopback server."""

import hashlib
import re
import socket
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rbmlib import datasets
from rbmlib.datasets import DataCorrupt, DataUnavailable, files
from rbmlib.datasets import register as _register
from rbmlib.datasets.register import Remote

DATA = Path(__file__).parents[1] / "data"
CONTENT = b"a published file, for tests"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def test_mnist_is_the_genuine_one_and_bits_and_labels_belong_together():
    """Images of a 1 have fewest pixels; the first training image is the well-known 5."""
    data = datasets.load_mnist()
    assert (data.train.shape, data.test.shape) == ((60000, 784), (10000, 784))
    assert {data.train.dtype, data.test.dtype, data.train_labels.dtype} == {np.dtype(np.uint8)}
    assert data.train.max() == data.test.max() == 1
    for rows, labels in ((data.train, data.train_labels), (data.test, data.test_labels)):
        means = [rows[labels == digit].sum(axis=1).mean() for digit in range(10)]
        assert (np.argmin(means), np.argmax(means)) == (1, 0)
    assert data.train_labels[:5].tolist() == [5, 0, 4, 1, 9]
    # Row 5 of that 5, where the grey levels are 3 18 18 18 126 136 175 26 166 255 247 127.
    assert np.flatnonzero(data.train[0].reshape(28, 28)[5]).tolist() == [17, 18, 20, 21, 22]


def test_dna_is_the_genuine_one_and_its_bits_code_nucleotides():
    """No nucleotide has two bits; introns begin with GT and end with AG at the junction."""
    data = datasets.load_dna()
    assert (data.train.shape, data.test.shape) == ((2000, 180), (1186, 180))
    assert data.label_names == ("ei", "ie", "n")
    assert np.bincount(data.train_labels).tolist() == [464, 485, 1051]
    assert np.bincount(data.test_labels).tolist() == [303, 280, 603]
    triples = data.train.reshape(2000, 60, 3)
    assert triples.sum(axis=2).max() == 1
    symbols = np.where(triples.any(axis=2), np.array(list("ACG"))[triples.argmax(axis=2)], "T")
    windows = np.array(["".join(row) for row in symbols])
    donors, acceptors = (windows[data.train_labels == label] for label in (0, 1))
    assert np.mean([window[30:32] == "GT" for window in donors]) > 0.95
    assert np.mean([window[28:30] == "AG" for window in acceptors]) > 0.95


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
            if path.stem in _register.COMMITTED_RBMS:
                assert arrays["weights"].shape == _register.COMMITTED_RBMS[path.stem], name


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


@pytest.mark.parametrize("damage", ["bit", "truncated", "longer"])
def test_damaged_committed_file_is_refused_by_name(data_copy, damage):
    assert datasets.committed("dna/dna_binary.npz") == data_copy
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


@pytest.mark.parametrize("file", ["published/../../x.csv", "/etc/passwd", "", "."])
def test_no_file_beside_the_data_folder_is_given(file):
    with pytest.raises(ValueError, match=rf"file is '{file}': expected a path in the data folder"):
        datasets.committed(file)


def test_registers_agree():
    assert set(_register.PUBLISHED_RBMS) <= set(_register.REMOTE)
    assert {f"models/{name}.npz" for name in _register.COMMITTED_RBMS} <= set(_register.COMMITTED)
    assert len({remote.file for remote in _register.REMOTE.values()}) == len(_register.REMOTE)
    for remote in _register.REMOTE.values():
        assert re.fullmatch(rf"https://.*/{re.escape(remote.file)}", remote.url)
        assert len(bytes.fromhex(remote.sha256)) == 32


@pytest.fixture
def server(tmp_path):
    """A web server on loopback that serves CONTENT at /file and counts requests."""
    requests, folder = [], tmp_path / "served"
    folder.mkdir()
    (folder / "file").write_bytes(CONTENT)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            requests.append(self.path)

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield SimpleNamespace(url=f"http://127.0.0.1:{httpd.server_port}", requests=requests)
    httpd.shutdown()
    httpd.server_close()


def register(monkeypatch, url, sha256=SHA256):
    monkeypatch.setitem(_register.REMOTE, "sample", Remote("sample.bin", url, sha256))


def test_download_goes_to_the_cache_once(server, data_folders, monkeypatch, capfd):
    register(monkeypatch, server.url + "/file")
    path = datasets.fetch("sample")
    assert path == data_folders.cache / "sample.bin"
    assert path.read_bytes() == CONTENT
    assert datasets.fetch("sample") == path
    assert server.requests == ["/file"]
    assert list(data_folders.own.iterdir()) == []
    assert [entry.name for entry in data_folders.cache.iterdir()] == ["sample.bin"]
    assert capfd.readouterr() == ("", "")


def test_own_folder_comes_first_without_network(server, data_folders, monkeypatch):
    register(monkeypatch, server.url + "/file")
    (data_folders.own / "sample.bin").write_bytes(CONTENT)
    data_folders.cache.mkdir()
    (data_folders.cache / "sample.bin").write_bytes(b"not looked at")
    assert datasets.fetch("sample") == data_folders.own / "sample.bin"
    assert server.requests == []


@pytest.mark.parametrize(
    ("folder", "remedy"), [("own", "never writes to"), ("cache", "delete it and ask again")]
)
def test_wrong_file_is_refused_not_overwritten(server, data_folders, monkeypatch, folder, remedy):
    register(monkeypatch, server.url + "/file")
    wrong = getattr(data_folders, folder) / "sample.bin"
    wrong.parent.mkdir(exist_ok=True)
    wrong.write_bytes(CONTENT[:-1])
    with pytest.raises(DataCorrupt, match=remedy) as caught:
        datasets.fetch("sample")
    assert str(wrong) in str(caught.value)
    assert SHA256 in str(caught.value)
    assert wrong.read_bytes() == CONTENT[:-1]
    assert server.requests == []


def check_unavailable(caught, url, data_folders):
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in (url, SHA256, "sample.bin", str(data_folders.cache)))
    assert "RBMLIB_DATA" in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert not (data_folders.cache / "sample.bin").exists()


@pytest.mark.parametrize(
    ("page", "words"), [("", r": no connection to 127\.0\.0\.1\. Get"), ("/nothing", "404")]
)
def test_what_cannot_be_downloaded_is_said_with_what_to_put_where(
    server, data_folders, monkeypatch, page, words
):
    with socket.create_server(("127.0.0.1", 0)) as closed:  # a port that nobody listens on then
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/file"
    url = server.url + page if page else nobody
    register(monkeypatch, url)
    with pytest.raises(DataUnavailable, match=words) as caught:
        datasets.fetch("sample")
    check_unavailable(caught, url, data_folders)


def test_names_and_folders_that_are_none(data_folders, monkeypatch):
    with pytest.raises(ValueError, match=r"'course-test' \(did you mean 'course_test'\?\)"):
        datasets.fetch("course-test")
    monkeypatch.setenv("RBMLIB_DATA", str(data_folders.own / "missing"))
    with pytest.raises(ValueError, match=r"RBMLIB_DATA is .*missing.* not a folder"):
        datasets.fetch("h10")


def test_download_of_another_file_is_refused(server, data_folders, monkeypatch):
    register(monkeypatch, server.url + "/file", sha256="0" * 64)
    with pytest.raises(DataUnavailable, match="does not match the known hash"):
        datasets.fetch("sample")
    assert list(data_folders.cache.iterdir()) == []


def test_silent_server_times_out(data_folders, monkeypatch):
    monkeypatch.setattr(files, "TIMEOUT", 0.2)
    start = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        register(monkeypatch, url)
        with pytest.raises(DataUnavailable, match=r"no answer within 0\.2 s") as caught:
            datasets.fetch("sample")
    assert time.monotonic() - start < 10
    check_unavailable(caught, url, data_folders)


def test_cache_that_cannot_be_written(server, data_folders, monkeypatch):
    register(monkeypatch, server.url + "/file")
    data_folders.cache.write_bytes(b"a file where the folder should be")
    with pytest.raises(DataUnavailable, match=r"could not be downloaded: .*cache") as caught:
        datasets.fetch("sample")
    check_unavailable(caught, server.url + "/file", data_folders)


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
