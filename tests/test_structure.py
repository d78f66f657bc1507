"""The layout of the repository and the one-way imports of the package."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from helpers_book import toc_entries

TOP_LEVEL = {
    "book", "rbmlib", "tests", "data", "_config.yml", "_toc.yml", "requirements.txt", "README.md",
    "pyproject.toml", "Makefile", "LICENSE", "CITATION.cff", "CHANGELOG.md", ".gitignore",
    ".pre-commit-config.yaml", ".github", ".ci", ".binder", ".devcontainer",
}  # fmt: skip

# Rooms from left to right: a module imports rooms of a lower level, or its own room.
LEVELS = [
    {"_kernels", "results", "_diagnosis", "_numerics", "_progress", "_streams", "_validation",
     "_files", "_public", "_compiling", "_interrupts", "_outermost"},
    {"models"},
    {"moves"},
    {"datasets"},
    {"paths"},
    {"schedules"},
    {"tempering"},
    {"estimators"},
    {"automatic"},
    {"training"},
    {"book"},
    {"commands"},
    {"__main__"},
]  # fmt: skip
ROOMS = ("automatic", "datasets", "estimators", "models", "moves", "paths", "schedules",
         "tempering", "training")  # fmt: skip
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def committed(repository: Path) -> list[Path]:
    """Files that git tracks or would add; every file of an unpacked archive without git."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=repository, capture_output=True, check=False,
    )  # fmt: skip
    if listing.returncode:
        pytest.skip("not a git checkout")
    names = [name for name in listing.stdout.decode().split("\0") if name]
    return [repository / name for name in names if (repository / name).is_file()]


def imported_rooms(path: Path, package: Path):
    """Rooms of rbmlib that a file imports, anywhere in it, with the line."""
    here = ["rbmlib", *path.relative_to(package).with_suffix("").parts]
    rooms = {p.stem for p in package.iterdir() if p.suffix == ".py" or p.is_dir()}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else []
            module = base + (node.module.split(".") if node.module else [])
            targets = [[*module, alias.name] for alias in node.names]
        else:
            continue
        for target in targets:
            if target[0] == "rbmlib" and len(target) > 1 and target[1] in rooms:
                yield target[1], node.lineno


def test_imports_go_one_way(repository):
    package = repository / "rbmlib"
    wrong = []
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        assert room in LEVEL, f"{path.name}: a room that LEVELS does not place"
        for other, line in imported_rooms(path, package):
            helpers = LEVEL[room] == 0 == LEVEL.get(other)
            if other != room and not helpers and LEVEL.get(other, 99) >= LEVEL[room]:
                wrong.append(f"{path.relative_to(repository)}:{line} imports {other}")
    assert not wrong, "\n".join(wrong)


def test_the_library_does_not_know_its_book(repository):
    package = repository / "rbmlib"
    imports = re.compile(r"(?m)^\s*(?:from|import) rbmbook\b")
    files = [*package.rglob("*.py")]
    assert files
    assert not [path.name for path in files if imports.search(path.read_text(encoding="utf-8"))]


def test_experiments_are_named_as_their_chapters(repository):
    files = (repository / "book" / "lab" / "experiments").glob("[!_]*.py")
    chapters = {p.stem for p in (repository / "book").glob("*.ipynb")}
    assert {p.stem for p in files} <= chapters | {"reference"}  # which serves every chapter


def test_import_is_light():
    """Importing rbmlib takes a few hundredths of a second: what is heavy waits for its use."""
    book = ["pandas", "matplotlib", "jinja2", "yaml", "distributed", "sklearn", "pymbar"]
    assert loaded_by("import rbmlib", ["numpy", "scipy", "numba", *book]) == []
    estimate = "import rbmlib as rl; rl.exact(rl.testsystems.random_rbm(8, 4, rng=0))"
    late = ["scipy.optimize", "scipy.integrate", "scipy.ndimage", "scipy.stats"]
    assert loaded_by(estimate, [*late, "pandas", "matplotlib", "distributed"]) == []


def loaded_by(code: str, modules: list[str]) -> list[str]:
    code = f"{code}; import sys; print(*[m for m in {modules} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_the_names_of_a_package_are_what_its_imports_would_bind(repository, room):
    """Whichever comes first, the name or the file of the same name: here the files come first."""
    package = ".".join(filter(None, ["rbmlib", room]))
    code = f"""
import ast, importlib, inspect, pathlib, sys
package = importlib.import_module({package!r})
init = pathlib.Path(package.__file__)
for file in init.parent.glob("[!_]*.py"):
    importlib.import_module(f"{package}.{{file.stem}}")
source = init.read_text().replace("if TYPE_CHECKING:", "if True:")
source = source.replace("_declare(globals())", "")
eager = dict(__package__={package!r}, __name__={package!r}, __file__=str(init))
exec(compile(source, str(init), "exec"), eager)
assert package.__all__
for name in package.__all__:
    assert getattr(package, name) is eager[name], name
    assert name in dir(package)
try:
    package.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error)
else:
    raise AssertionError("a name that is not there was found")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_public_names_exist():
    import rbmlib

    assert rbmlib.__all__ == sorted(set(rbmlib.__all__))
    assert all(hasattr(rbmlib, name) for name in rbmlib.__all__)


def test_names_in_messages_exist(repository):
    """``rl.NAME``, in docstrings and in what errors say, is a name of the library."""
    import rbmlib

    texts = {path: path.read_text(encoding="utf-8") for path in repository.glob("rbmlib/**/*.py")}
    named = {(n, path.name) for path, t in texts.items() for n in re.findall(r"\brl\.(\w+)", t)}
    assert sorted((name, file) for name, file in named if not hasattr(rbmlib, name)) == []


def test_a_public_name_stands_in_one_init_line(repository):
    """Where it is imported; the names of `rbmlib` are those of its rooms, and a few more."""
    package = repository / "rbmlib"
    rooms = ("estimators", "models", "moves", "paths", "tempering", "training")
    lines = [
        re.sub(r"import \w+ as", "import", line)
        for room in (".", *rooms)
        for line in (package / room / "__init__.py").read_text().splitlines()
        if line.lstrip().startswith("from ")
    ]
    import rbmlib

    for room in rooms:
        for name in sys.modules[f"rbmlib.{room}"].__all__:
            assert name in rbmlib.__all__
            if name != "mcmc":  # the file metropolis.py
                assert sum(bool(re.search(rf"import {name}\b", line)) for line in lines) == 1, name


NEW_ESTIMATOR = """
from ..results import Estimate

def constant(path, n_chains: int = 100, rng=None, *, value: float = 1.0, skip: int = 0) -> Estimate:
    \"\"\"The value that it is given.\"\"\"
    return Estimate("constant", value * n_chains, 0.0, (value, value))
"""
USE_IT = """
import sys
import rbmlib as rl
from rbmbook.sweeps import ESTIMATES, Sweep
sys.path.insert(0, sys.argv[1])
import api_page

assert "constant" in rl.__all__
task = {"model": "pcd_10", "estimator": "constant", "base": "uniform", "seed": 0}
sweep = Sweep([task | {"value": 2}, task | {"n_chains": 3}], ESTIMATES, folder=".")
assert sweep.run(n_workers=0).failed == {}
assert [(r["n_chains"], r["value"], r["skip"], r["log_z"]) for r in sweep.rows()] == [
    (3, 1.0, 0, 3.0), (100, 2.0, 0, 200.0)]
try:
    Sweep([task | {"valeu": 2}], ESTIMATES)
except ValueError as error:
    assert "did you mean value" in str(error)
else:
    raise AssertionError("a misspelt setting was not refused")
section = api_page.page().split("## Estimators of log Z")[1].split("\\n## ")[0]
assert ".. autofunction:: rbmlib.constant" in section
"""


def test_a_new_estimator_is_a_file_and_a_line(repository, tmp_path):
    """In a copy of the library: public, on the API page, and named by a task, with its settings."""
    copy, room = tmp_path / "rbmlib", tmp_path / "rbmlib" / "estimators"
    for source in [
        *(repository / "rbmlib").iterdir(),
        *(repository / "rbmlib/estimators").iterdir(),
    ]:
        target = tmp_path / source.relative_to(repository)
        target.parent.mkdir(exist_ok=True)
        if source.name not in ("estimators", "__pycache__"):
            target.symlink_to(source)
    (tmp_path / "data").symlink_to(repository / "data")
    (copy / "__init__.py").unlink()  # a link would lead Python to the original
    (copy / "__init__.py").write_text((repository / "rbmlib/__init__.py").read_text())
    listed = (room / "__init__.py").read_text()
    (room / "__init__.py").unlink()
    line = "from .constant import constant as constant\n"
    (room / "__init__.py").write_text(listed.replace("from .exact", f"{line}    from .exact", 1))
    (room / "constant.py").write_text(NEW_ESTIMATOR)
    done = subprocess.run(
        [sys.executable, "-c", USE_IT, repository / "book" / "_ext"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.fixture
def api_page(repository, monkeypatch):
    """What `make book` puts into the API page."""
    monkeypatch.syspath_prepend(repository / "book" / "_ext")
    import api_page

    assert api_page.MARK in (repository / "book" / "api.md").read_text()
    return api_page


def documented(page: str) -> set[tuple[str, str]]:
    """Public names of rbmlib with an entry of their own, or a line that says where they are."""
    return set(re.findall(r"(?m)^\.\. auto\w+:: rbmlib\.(\w+)$|^``rl\.(\w+)`` is ``", page))


def test_every_public_name_is_documented(api_page):
    import rbmlib

    names = {one or other for one, other in documented(api_page.page())}
    assert set(rbmlib.__all__) - names == set()


def test_a_new_public_name_is_documented_without_another_edit(api_page, monkeypatch):
    import rbmlib
    from rbmlib.estimators.rts import mixed_rts

    monkeypatch.setattr(rbmlib, "new_estimator", mixed_rts, raising=False)
    monkeypatch.setattr(rbmlib, "__all__", [*rbmlib.__all__, "new_estimator"])
    section = api_page.page().split("## Estimators of log Z")[1].split("\n## ")[0]
    assert ".. autofunction:: rbmlib.new_estimator\n" in section


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


def test_top_level_holds_only_what_it_should(repository):
    found = {path.relative_to(repository).parts[0] for path in committed(repository)}
    assert found <= TOP_LEVEL, sorted(found - TOP_LEVEL)


def test_no_large_file(repository):
    large = [path.name for path in committed(repository) if path.stat().st_size > 8_000_000]
    assert not large


def test_a_file_is_one_subject(repository):
    """Which is a matter of judgement; what more than 350 lines hold is more than one."""
    files = [path for room in ("rbmlib", "tests") for path in (repository / room).rglob("*.py")]
    assert len(files) > 200
    lines = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {path: n for path, n in lines.items() if n > 350} == {}


def test_no_machine_path(repository):
    """No path that exists on one machine only, in any text file."""
    pattern = re.compile(
        r"(?<![\w./<>-])/(?:work|farm|root|home|Users|tmp|opt)/\w|\b[A-Z]:\\\\Users"
    )
    found = []
    for path in committed(repository):
        if path == Path(__file__) or path.suffix in {".npz", ".npy", ".gz", ".png", ".mat", ".rda"}:
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        found += [f"{path.relative_to(repository)}: {m[0]}" for m in pattern.finditer(text)]
    assert not found, "\n".join(found[:20])


def test_table_of_contents_lists_every_page(repository):
    listed = [page for page, _ in toc_entries()]
    folders = repository / "book", repository / "book" / "exercises"
    pages = (page for folder in folders for page in folder.iterdir())
    present = {
        page.relative_to(repository).with_suffix("").as_posix()
        for page in pages
        if page.suffix in {".md", ".ipynb"}
    }
    assert len(listed) == len(set(listed))
    assert set(listed) == present
