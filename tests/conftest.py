"""Shared by tests: the repository, its notebooks, empty data folders, `log_z` without parts."""

import math
import os
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers_book import REPOSITORY, chapter_name, chapter_paths

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a job in the background ignores Ctrl-C, and so would every program that a test starts
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture
def without_sum(monkeypatch):
    """In `log_z` no sum over states is made: what its chains say of each other."""
    none, of_none = SimpleNamespace(log_sum=-math.inf), SimpleNamespace(of=lambda *_: None)
    monkeypatch.setattr("rbmlib.automatic.problem.grown", lambda *_: none)
    monkeypatch.setattr("rbmlib.automatic.three_runs.Summed", of_none)


@pytest.fixture
def without_paths_to_modes(monkeypatch, without_sum):
    """In `log_z` no mode has chains of its own: what its checks then see."""
    from rbmlib.automatic.missed import Missed

    def none(rbm, *_):
        return Missed(np.zeros((1, rbm.n_visible)), np.zeros(1))

    monkeypatch.setattr("rbmlib.automatic.problem.missed", none)


@pytest.fixture(autouse=True)
def own_bars(request):
    """Statistical tests look at estimators' own error bars, without the independent check."""
    import rbmlib as rl

    if request.node.get_closest_marker("statistical") is None:
        yield
    else:
        with rl.using(independent_check=False):
            yield


@pytest.fixture
def data_folders(tmp_path, monkeypatch):
    """Empty folders: ``own`` is $RBMLIB_DATA, ``cache`` the cache (not made yet)."""
    own, cache = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    monkeypatch.setenv("RBMLIB_DATA", str(own))
    monkeypatch.setattr("rbmlib.datasets.files.cache_folder", lambda: cache)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return SimpleNamespace(own=own, cache=cache)


HTML = REPOSITORY / "_build" / "tests" / "_build" / "html"
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]


def missing(reason: str):
    if os.environ.get("RBMLIB_REQUIRE_BROWSER"):
        pytest.fail(f"{reason} (RBMLIB_REQUIRE_BROWSER is set)")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def built() -> Path:
    if not (HTML / ".done").exists():
        missing("the book is not rendered: run `make test_pages`")
    return HTML


@pytest.fixture(scope="session")
def browser(built):
    paths = [path for name in BROWSERS if (path := shutil.which(name))]
    if not paths:
        missing(f"no browser: the page tests look for {', '.join(BROWSERS)} on the PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=paths[0],
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
            ignore_default_args=["--hide-scrollbars"],  # a reader has to see them
        )
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, built):
    """Opens an address of the book in a tab of its own, without a network."""
    contexts = []

    def open_page(address, width=1400, **settings):
        settings |= {"offline": True, "viewport": {"width": width, "height": 900}}
        contexts.append(browser.new_context(**settings))
        page = contexts[-1].new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(f"{built.as_uri()}/{address}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def pytest_generate_tests(metafunc):
    """A test with the argument `chapter` runs once for each notebook of the book."""
    given = [m.args[:1] for m in metafunc.definition.iter_markers("parametrize")]
    if "chapter" in metafunc.fixturenames and ("chapter",) not in given:
        metafunc.parametrize("chapter", chapter_paths(), ids=chapter_name)
