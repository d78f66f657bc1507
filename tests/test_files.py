"""Files: written whole or not at all, never over what they are made of; damaged ones refused."""

import errno
import gc
import io
import math
import os
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.__main__ import main as book
from rbmlib import Estimate, files

ESTIMATE = Estimate("test", 1.0, math.nan, (-math.inf, math.inf), mean_log_z=math.inf)


def model() -> rl.BernoulliRBM:
    return rl.testsystems.random_rbm(12, 4, rng=0)


WRITERS = {
    "estimate.json": ESTIMATE.save,
    "model.npz": lambda path: model().save(path),
    "leaky.npz": lambda path: rl.LeakyRBM(np.eye(3) / 2).save(path),
}


@pytest.fixture(params=WRITERS, ids=lambda name: name.partition(".")[0])
def writer(request, tmp_path):
    return WRITERS[request.param], tmp_path / request.param


def test_saving_follows_links(writer, tmp_path):
    save, path = writer
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / path.name
    target.write_text("before")
    target.chmod(0o640)
    path.symlink_to(target)
    save(path)
    assert path.is_symlink()
    assert len(target.read_bytes()) > 100
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_regular_file_is_refused(writer, kind):
    save, path = writer
    {"folder": path.mkdir, "pipe": lambda: os.mkfifo(path),
     "device": lambda: path.symlink_to("/dev/null")}[kind]()  # fmt: skip
    mode = path.stat().st_mode
    with pytest.raises(ValueError, match=rf"{path.name}'.* no regular file"):
        save(path)
    assert path.stat().st_mode == mode
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(ValueError, match=r" is a folder: expected a model"):
        rl.load_rbm(tmp_path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_full_disk_is_named_and_changes_nothing(writer, monkeypatch, number):
    save, path = writer
    path.write_text("before")

    def fails(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.os, "fsync", fails)
    with pytest.raises(OSError, match=f"{os.strerror(number)}.*{path.name}") as caught:
        save(path)
    assert caught.value.errno == number
    assert path.read_text() == "before"
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupt_leaves_nothing(tmp_path):
    def interrupted():
        with files.replacing(tmp_path / "x") as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())


# models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", bool, complex, "no type"])
def test_a_dtype_that_changes_log_z_is_refused(tmp_path, dtype):
    for name in ("m.npz", "m.mat"):
        with pytest.raises(ValueError, match=r"^dtype is .*floating-point|^path is "):
            model().save(tmp_path / name, dtype=dtype)
    assert not list(tmp_path.iterdir())


def test_no_model_is_saved_that_could_not_be_read(tmp_path):
    weights = np.array([[1 - 1e-12], [0.0]])  # rounds to 1, where the density is improper
    cases = [rl.GaussianRBM([[1e39]]), rl.GaussianRBM([[1.0]], [1e300]), rl.LeakyRBM(weights)]
    for rbm in cases:
        with pytest.raises(ValueError, match=r"dtype is float32.*float64"):
            rbm.save(tmp_path / "m.npz", dtype=np.float32)
        assert not list(tmp_path.iterdir())
        rbm.save(tmp_path / "m.npz")
        again = rl.load_rbm(tmp_path / "m.npz")
        assert type(again) is type(rbm)
        assert (again.weights == rbm.weights).all()
        (tmp_path / "m.npz").unlink()
    with pytest.raises(ValueError, match="dtype is float16, which cannot hold weights"):
        rl.BernoulliRBM([[1e5]], [0], [0]).save(tmp_path / "m.npz", dtype=np.float16)


def header(shape) -> bytes:
    buffer = io.BytesIO()
    fields = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, fields)
    return buffer.getvalue()


@pytest.mark.parametrize("weights", [header((100, 100)) + bytes(8), b"no array", b""])
def test_damaged_arrays_and_objects_are_refused(tmp_path, weights):
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as file:
        for name in ("weights", "visible_bias", "hidden_bias"):
            file.writestr(f"{name}.npy", weights)
    with pytest.raises(ValueError, match=r"m\.npz is damaged, or holds more than arrays"):
        rl.load_rbm(tmp_path / "m.npz")


def test_a_damaged_file_is_closed(tmp_path, recwarn):
    model().save(tmp_path / "m.npz")
    (tmp_path / "m.npz").write_bytes((tmp_path / "m.npz").read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"m\.npz is damaged"):
        rl.load_rbm(tmp_path / "m.npz")
    gc.collect()
    assert not [w for w in recwarn if w.category is ResourceWarning]


# sweeps --------------------------------------------------------------------------------------


def refused(capsys, *arguments) -> str:
    """Status 2, nothing on standard output, one line on standard error."""
    assert book([*arguments]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert len(error.splitlines()) == 1
    assert error.startswith("error: ")
    return error


SWEEP = "grids: [{model: pcd_10, n_temperatures: 5, n_chains: 5, seed: [1, 2]}]\n"


def test_tables_of_others_are_not_written_over(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(SWEEP)
    Path("s.csv").write_text("song,singer\na,b\n")
    assert "s.csv" in refused(capsys, "run", "s.yaml", "--workers", "0")
    assert Path("s.csv").read_text() == "song,singer\na,b\n"
    assert not Path("s.sqlite").exists()
    Path("s.csv").unlink()
    assert book(["run", "s.yaml", "--workers", "0"]) == 0
    table = Path("s.csv").read_text()
    foreign = "\n".join(f"{line},mine" for line in table.splitlines())
    Path("s.csv").write_text(foreign)
    assert book(["run", "s.yaml", "--workers", "0"]) == 2
    assert "s.csv has other columns (mine)" in capsys.readouterr().err
    assert Path("s.csv").read_text() == foreign
    Path("s.csv").write_text(table.replace(",seconds,", ",hours,"))
    assert "no column seconds" in refused(capsys, "run", "s.yaml", "--dry-run")
