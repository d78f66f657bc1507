"""One-way imports, what is declared of the package, its page on the architecture, examples."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.util import resolve_name
from pathlib import Path

import api_page
import pytest
from helpers_book import BOOK, chapter_paths, toc_entries

import rbmbook
from rbmbook.sweeps.words import ESTIMATORS

# Layers from the lowest: a module imports layers of a lower level, or its own layer.
LEVELS = [
    {"_kernels"},
    {"checks", "context", "numerics", "estimate", "results", "files", "plot"},
    {"models", "schedules"},
    {"datasets", "paths"},
    {"sampling"},
    {"search"},
    {"estimators"},
    {"training", "automatic"},
    {"__main__"},  # the command line
]
LEVEL = {layer: level for level, layers in enumerate(LEVELS) for layer in layers}


def imported_layers(path: Path, package: Path):
    """Layers of rbmlib that a file imports, anywhere in it, with the line."""
    here = ".".join(["rbmlib", *path.relative_to(package).parent.parts])
    layers = {p.stem for p in package.iterdir() if p.suffix == ".py" or p.is_dir()}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), here)
            targets = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in targets:  # a name of the package itself stands above every layer
            root, *layer = target.split(".")[:2]
            if root == "rbmlib":
                yield layer[0] if {*layer} & layers else "__init__", node.lineno


def test_imports_go_one_way(repository):
    package = repository / "rbmlib"
    wrong = []
    for path in sorted(package.rglob("*.py")):
        layer = path.relative_to(package).parts[0].removesuffix(".py")
        if layer == "__init__":
            continue
        assert layer in LEVEL, f"{path.name}: a layer that LEVELS does not place"
        assert not re.search(r"(?m)^\s*(from|import) rbmbook", path.read_text(encoding="utf-8"))
        for other, line in imported_layers(path, package):
            root = LEVEL[layer] == LEVEL.get(other) == 1
            if other != layer and not root and LEVEL.get(other, 99) >= LEVEL[layer]:
                wrong.append(f"{path.relative_to(repository)}:{line} imports {other}")
    assert not wrong, "\n".join(wrong)


def test_import_is_light():
    """What is heavy and what only chapters, plots and sweeps need waits for its use."""
    heavy = "pandas matplotlib jinja2 distributed sklearn pymbar tqdm pooch requests scipy.ndimage "
    heavy += "scipy.stats scipy.optimize scipy.integrate scipy.io"
    code = "import rbmlib, sys; rbmlib.datasets.load_dna(); "
    code += f"print(*(set({heavy.split()}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_names_in_messages_exist(repository):
    """``rl.NAME``, in docstrings and in what errors say, is a name of the library."""
    import rbmlib

    texts = {path: path.read_text(encoding="utf-8") for path in repository.glob("rbmlib/**/*.py")}
    named = {(n, path.name) for path, t in texts.items() for n in re.findall(r"\brl\.(\w+)", t)}
    assert sorted((name, file) for name, file in named if not hasattr(rbmlib, name)) == []


def test_every_public_name_has_a_page(repository, tmp_path):
    import rbmlib

    assert api_page.MARK in (repository / "book" / "api.md").read_text()
    api_page.write_pages(tmp_path)
    texts = "\n".join(file.read_text(encoding="utf-8") for file in tmp_path.iterdir())
    names = set(re.findall(r"(?m)^\.\. auto\w+:: rbmlib\.(?:[a-z]+\.)?(\w+)$", texts))
    modules = {"datasets", "moves", "schedules", "testsystems"}  # read as rl.schedules
    things = {n for n, thing in vars(rbmlib).items() if n[0] != "_" and not inspect.ismodule(thing)}
    public = things | (modules & vars(rbmlib).keys())
    assert len(public) > 50
    assert public - names == set()
    index = api_page.index()
    assert {f.stem for f in tmp_path.iterdir()} == set(re.findall(r"<api/([\w.]+)>", index))


def test_every_package_and_the_version_are_declared(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    found = {
        ".".join(path.parent.relative_to(repository).parts)
        for path in (repository / "rbmlib").rglob("__init__.py")
    }
    assert set(project["tool"]["setuptools"]["packages"]) == found | {"rbmlib._data"}

    import rbmlib

    version = project["project"]["version"]
    assert rbmlib.__version__ == version
    assert f"version: {version}\n" in (repository / "CITATION.cff").read_text()
    assert f"## {version}" in (repository / "CHANGELOG.md").read_text()


def test_lock_covers_the_declared_requirements(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = {re.match(r"[\w.-]+", line)[0].lower() for group in groups for line in group}
    lock = (repository / "requirements.txt").read_text()
    locked = {line.split("==")[0] for line in lock.splitlines() if not line.startswith("#")}
    wanted -= {"rbmlib"}  # a group that contains another
    assert wanted <= locked, f"run `make lock`: {sorted(wanted - locked)}"
    assert "://" not in lock
    assert "--" not in re.sub(r"(?m)^#.*$", "", lock)


def test_no_machine_path(repository):
    """In files that git tracks or would add."""
    folder = r"(^|[^[:alnum:]_./<>-])/(work|farm|root|home|Users|tmp|opt)/[[:alnum:]_]"
    command = ["git", "grep", "-InoE", "--untracked", rf"{folder}|[A-Z]:\\\\Users", "--"]
    here = f":!{Path(__file__).relative_to(repository)}"
    found = subprocess.run([*command, here], cwd=repository, capture_output=True, text=True)
    if found.returncode > 1:
        pytest.skip("not a git checkout")
    assert found.stdout == ""


def test_table_of_contents_lists_every_page(repository):
    listed = toc_entries()
    pages = [*chapter_paths(), *BOOK.glob("*.md"), *BOOK.glob("exercises/*.md")]
    present = {page.relative_to(repository).with_suffix("").as_posix() for page in pages}
    assert len(listed) == len(set(listed))
    assert {*listed, "book/README"} == present


# the page on the architecture -------------------------------------------------------------


@pytest.fixture(scope="module")
def page(pytestconfig):
    return (pytestconfig.rootpath / "book" / "architecture.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", page)


def test_its_examples_run(page):
    before, code = dict(ESTIMATORS), blocks(page, "python")
    assert sum("assert " in block for block in code) >= 7
    names = {"__name__": "architecture"}
    try:
        for number, block in enumerate(code, 1):
            exec(compile(block, f"architecture.md, block {number}", "exec"), names)
    finally:
        ESTIMATORS.clear()
        ESTIMATORS.update(before)
    new = names["importance_sampling"](names["BiasesFirst"](names["easy"]), 5000, rng=1)
    assert abs(new.log_z - names["rl"].exact(names["easy"]).log_z) < 4 * new.std_error


def test_the_files_that_it_names_exist(page, repository):
    named = {*re.findall(r"`(rbmlib/[\w/]+(?:\.py)?)`", page)}
    named |= {f"rbmlib/{n}" for n in re.findall(r"\s(\w+/\w+\.py)", blocks(page, "text")[1])}
    assert len(named) > 10
    assert [n for n in sorted(named) if "NAME" not in n and not (repository / n).exists()] == []


# examples in docstrings of `rbmbook`, under the name by which chapters import it -------------

MODULES = [m.name for m in pkgutil.walk_packages(rbmbook.__path__, "rbmbook.")]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
