"""Build the sdist and the wheel, and try the wheel in a fresh environment of each Python here.

    make release

Builds from a copy of the files that git tracks, so that nothing else gets in, into
``_build/release``. In each environment, which has the wheel and what it requires but nothing of the
book, one line estimates log Z of a model that comes with it, kernels are compiled, the command line
answers, and what is left out says how it is to be had. Nothing is published.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "_build" / "release"
MOST_BYTES = 5_000_000
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
WITHOUT = ("distributed", "pandas", "matplotlib", "jinja2", "yaml", "notebook", "sklearn")

ONE_LINE = (
    "import rbmlib as rl; "
    "print(rl.ais(rl.GeometricPath(rl.load_rbm('pcd_10')), rl.schedules.linear(2000), "
    "n_chains=200, rng=0).log_z)"
)
LEFT_OUT = f"""
import importlib.util, rbmlib as rl
found = [name for name in {WITHOUT} if importlib.util.find_spec(name)]
assert not found, f"{{found}} should not be here"
assert rl.datasets.load_mnist().train.shape == (60000, 784)
assert abs(rl.exact(rl.load_rbm("pcd_10")).log_z - 193.010618) < 1e-6
assert {{i.name: i.where for i in rl.datasets.list_rbms()}}["cd1_500"] == "not here"
try:
    rl.load_rbm("cd1_500")
except rl.datasets.DataUnavailable as error:
    assert "RBMLIB_DATA" in str(error) and "SHA-256" in str(error)
else:
    raise AssertionError("cd1_500 is in the wheel")
"""


def run(*command, cwd=None) -> str:
    """What a command prints; SystemExit if it fails."""
    settings = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "RBMLIB_DATA")}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(uv: str, folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel built from it, in `TARGET`."""
    copy = folder / "source"
    listed = run("git", "ls-files", "-z", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    shutil.rmtree(TARGET, ignore_errors=True)
    run(uv, "build", "--out-dir", TARGET, copy)
    (sdist,), (wheel,) = TARGET.glob("*.tar.gz"), TARGET.glob("*.whl")
    for file in (sdist, wheel):
        size = file.stat().st_size
        print(f"{file.relative_to(ROOT)}: {size / 1e6:.2f} MB")
        if size > MOST_BYTES:
            raise SystemExit(f"error: {file.name} has {size:,} bytes: expected {MOST_BYTES:,}")
    return sdist, wheel


def python_of(version: str) -> str | None:
    """A program that is this Python: on the path, or where version managers put it."""
    places = [Path.home() / ".pyenv" / "versions", Path.home() / ".local/share/uv/python"]
    patterns = [p.glob(f"*{version}*/bin/python{version}") for p in places]
    found = [shutil.which(f"python{version}"), *(p for pattern in patterns for p in pattern)]
    code = "import sys; print('{}.{}'.format(*sys.version_info))"
    for program in filter(None, found):
        said = subprocess.run([str(program), "-c", code], capture_output=True).stdout.decode()
        if said == f"{version}\n":
            return str(program)
    return None


def check(uv: str, program: str, wheel: Path, folder: Path) -> None:
    """Try the wheel with this Python, in a fresh environment and a folder that holds nothing."""
    python, empty = folder / "bin" / "python", folder / "empty"
    run(uv, "venv", "--quiet", "--python", program, folder)
    empty.mkdir()
    run(uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, wheel)
    value = float(run(python, "-c", ONE_LINE, cwd=empty))
    run(python, "-c", LEFT_OUT, cwd=empty)
    said = run(folder / "bin" / "rbmlib", "logz", "pcd_10", cwd=empty)
    if "193.010618" not in said:
        raise SystemExit(f"error: rbmlib logz pcd_10 says\n{said}")
    print(f"{program}: one line says log Z = {value:.3f} (exact 193.011)", flush=True)


def main() -> None:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        _, wheel = build(str(uv), Path(name))
        programs = {version: python_of(version) for version in PYTHONS}
        for version, program in programs.items():
            if program:
                check(str(uv), program, wheel, Path(name) / version)
            else:
                print(f"Python {version}: not on this machine, not tried")
    if not any(programs.values()):
        raise SystemExit("error: none of these Pythons is here")


if __name__ == "__main__":
    main()
