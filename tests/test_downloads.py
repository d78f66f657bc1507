"""Published files: the user's folder, the cache, and downloads from a loopback server."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from helpers_published import CONTENT, SHA256

from rbmlib import datasets
from rbmlib.datasets import DataCorrupt, DataUnavailable, files
from rbmlib.datasets import register as _register
from rbmlib.datasets.register import COMMITTED, Remote


@pytest.fixture
def server():
    """A web server on loopback that serves CONTENT at /file and counts requests."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(200 if self.path == "/file" else 404)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT)

        def log_message(self, *args):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield SimpleNamespace(url=f"http://127.0.0.1:{httpd.server_port}", requests=requests)
    httpd.shutdown()
    httpd.server_close()


def register(monkeypatch, url, sha256=SHA256):
    monkeypatch.setitem(_register.REMOTE, "sample", Remote("sample.bin", url, sha256))


def closed_port():
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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


def test_no_network_says_what_to_put_where(data_folders, monkeypatch):
    url = f"http://127.0.0.1:{closed_port()}/file"
    register(monkeypatch, url)
    with pytest.raises(DataUnavailable, match=r": no connection to 127\.0\.0\.1\. Get") as caught:
        datasets.fetch("sample")
    check_unavailable(caught, url, data_folders)


def test_page_not_found(server, data_folders, monkeypatch):
    register(monkeypatch, server.url + "/nothing")
    with pytest.raises(DataUnavailable, match="404") as caught:
        datasets.fetch("sample")
    check_unavailable(caught, server.url + "/nothing", data_folders)


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


def test_own_folder_that_is_none(data_folders, monkeypatch):
    monkeypatch.setenv("RBMLIB_DATA", str(data_folders.own / "missing"))
    with pytest.raises(ValueError, match=r"RBMLIB_DATA is .*missing.* not a folder"):
        datasets.fetch("h10")


def test_unknown_published_file():
    with pytest.raises(ValueError, match=r"'course-test' \(did you mean 'course_test'\?\)"):
        datasets.fetch("course-test")


@pytest.mark.parametrize("file", ["results/no_such.csv", next(iter(COMMITTED))])
def test_what_is_not_installed_is_told_with_its_digest_where_that_is_known(file, data_folders):
    with pytest.raises(DataUnavailable, match="is not installed with rbmlib") as said:
        files._of_checkout(file)
    known = COMMITTED.get(file)
    assert ("SHA-256" in str(said.value)) == (known is not None)
    assert known is None or f"of the repository, with SHA-256 {known}. Set" in str(said.value)
