"""Declarations that would take all time or memory, run code, or read a device: refused at once."""

import os
import time

import numpy as np
import pytest

from rbmbook.__main__ import main
from rbmbook.experiments import book_sweep
from rbmbook.parameters import checked_parameters

GRID = "{model: pcd_20, n_temperatures: 20, seed: %s}"
RANGE = "{first: 0, count: %d}"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 9)}]"
    for old, new in zip("abcdefg", "bcdefgh", strict=True)
)

HOSTILE = {
    "one grid of ten million": f"grids:\n  - {GRID % (RANGE % 10**7)}\n",
    "many grids of a million": "grids:\n" + f"  - {GRID % (RANGE % 10**6)}\n" * 40,
    "a product of lists": "grids:\n  - {model: pcd_20, seed: " + RANGE % 2000
    + ", n_chains: " + RANGE % 2000 + ", n_temperatures: 20}\n",
    "a count beyond numbers": f"grids:\n  - {GRID % (RANGE % 10**30)}\n",
    "an alias of aliases": BOMB + "\ngrids: [{model: *h}]\n",
    "grids that are aliases": "about: &a [" + "x, " * 12 + "]\ngrids: [[" + "*a, " * 12 + "]]\n",
    "an alias in a value": BOMB + "\ngrids: [{model: pcd_20, n_temperatures: *h, seed: 0}]\n",
    "a long value": "grids:\n  - {model: pcd_20, n_temperatures: " + "x" * 10**6 + ", seed: 0}\n",
    "a long name": "grids:\n  - {model: pcd_20, n_temperatures: 3, ? " + "x" * 10**6 + " : 0}\n",
    "a long list": "grids:\n  - {model: pcd_20, seed: [[" + "1, " * 10**5 + "]]}\n",
    "a function": "grids:\n  - {model: !!python/object/apply:os.system [touch RAN]}\n",
    "a name of a module": "grids:\n  - {model: !!python/name:os.system }\n",
    "a new object": "grids:\n  - !!python/object/new:subprocess.Popen [[touch, RAN]]\n",
    "an exec": "grids:\n  - {model: !!python/object/apply:exec ['open(\"RAN\", \"w\")']}\n",
    "a device": "grids:\n  - {model: /dev/zero, n_temperatures: 20, seed: 0}\n",
    "an endless device": "grids:\n  - {model: /dev/urandom, n_temperatures: 20, seed: 0}\n",
    "a folder": "grids:\n  - {model: /, n_temperatures: 20, seed: 0}\n",
    "a place elsewhere": "grids:\n  - {model: ../../../etc/passwd, n_temperatures: 9, seed: 0}\n",
    "bytes": b"\xff\xfe\x00grids",
    "a null byte": "grids:\n  - {model: \"pcd\\0_20\", n_temperatures: 20, seed: 0}\n",
    "numbers as names": "grids:\n  - {1: 2, 3: 4}\n",
    "a date": "grids:\n  - {model: 2026-01-01, n_temperatures: 20, seed: 0}\n",
    "infinity": "grids:\n  - {model: pcd_20, n_temperatures: .inf, seed: 0}\n",
    "not a number": "grids:\n  - {model: pcd_20, n_temperatures: .nan, seed: 0}\n",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_declaration_is_refused_at_once(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    content = HOSTILE[name]
    source = tmp_path / "hostile.yaml"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    began = time.process_time()
    with pytest.raises((ValueError, OSError)) as caught:
        book_sweep(source)
    assert time.process_time() - began < 10
    message = str(caught.value)
    assert message.startswith("hostile.yaml")
    assert len(message) < 1300
    assert os.listdir(tmp_path) == ["hostile.yaml"], "something was run, or written"


def test_the_command_line_says_it_in_one_line(tmp_path, capsys):
    source = tmp_path / "hostile.yaml"
    for name in ("one grid of ten million", "a function"):
        source.write_text(HOSTILE[name])
        assert main(["run", str(source)]) == 2
        error = capsys.readouterr().err
        assert error.startswith("error: hostile.yaml")
        assert error.count("\n") == 1


@pytest.mark.parametrize("words", [[], ["--dry-run"]])
def test_a_file_of_another_kind_is_named(tmp_path, capsys, words):
    np.savez(tmp_path / "model.npz", weights=np.ones(3))
    assert main(["run", str(tmp_path / "model.npz"), *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: model.npz: it is no text: expected a YAML file with the keys")


def test_overrides_are_counted_too(tmp_path):
    source = tmp_path / "hostile.yaml"
    source.write_text(f"grids:\n  - {GRID % 0}\n")
    given = {"seed": {"first": 0, "count": 10**6}, "n_chains": {"first": 10, "count": 10}}
    with pytest.raises(ValueError, match="expected 1 to 1,000,000"):
        book_sweep(source, overrides=given, folder=tmp_path)


HOSTILE_VALUES = {
    int: ["__import__('os').system('touch RAN')", "1; import os", [1], {}, None, "", 1.5, -1, True,
          float("nan"), float("inf"), "1e3"],
    float: ["0.1", [0.1], None, True, float("nan"), float("inf"), float("-inf"), {}],
    str: [1, None, ["h20"], {"a": 1}, True],
    bool: [1, 0, "True", None, "false"],
    list[int]: [[], 3, "3", [1.5], [None], ["1"], [True], None],
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE_VALUES, ids=str)
def test_parameters_of_papermill_are_values_and_nothing_else(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    for value in HOSTILE_VALUES[kind]:
        with pytest.raises(ValueError, match="parameter_x is"):
            checked_parameters({"__annotations__": {"parameter_x": kind}, "parameter_x": value})
    for name in ("rng", "os", "parameter_y"):
        with pytest.raises(ValueError, match=f"unknown parameter {name}"):
            checked_parameters({"__annotations__": {"parameter_x": int}, "parameter_x": 3, name: 1})
    assert not os.listdir(tmp_path)
