"""Rows of data from files: each kind, thresholds, and what is refused."""

import numpy as np
import pytest

from rbmlib import datasets

GREY = np.array([[0.0, 200.0, 90.0], [255.0, 0.0, 130.0]])
BITS = np.array([[0, 1, 0], [1, 0, 1]], np.uint8)


def write(path, rows):
    if path.suffix == ".npy":
        np.save(path, rows)
    elif path.suffix == ".npz":
        np.savez(path, rows=rows)
    else:
        np.savetxt(path, rows, delimiter=",")
    return path


@pytest.fixture(params=[".npy", ".npz", ".csv"])
def file(request, tmp_path):
    return tmp_path / f"rows{request.param}"


def test_bits_intensities_and_thresholds(file):
    rows = datasets.load_rows(write(file, GREY), 3, threshold=127)
    assert rows.dtype == np.uint8
    np.testing.assert_array_equal(rows, BITS)
    rows = datasets.load_rows(str(write(file, BITS)))
    assert rows.dtype == np.uint8
    np.testing.assert_array_equal(rows, BITS)
    rows = datasets.load_rows(write(file, GREY / 255))
    assert rows.dtype == float
    np.testing.assert_array_equal(rows, GREY / 255)


def test_spins_are_rows_and_have_no_threshold(file):
    signs = 2.0 * BITS - 1
    rows = datasets.load_rows(write(file, signs), 3)
    np.testing.assert_array_equal(rows, signs)
    for threshold in (0, 0.5, -2):
        with pytest.raises(ValueError, match=r"rows.* holds -1 and \+1 alone.*units='spins'"):
            datasets.load_rows(file, threshold=threshold)
    for other in (0.0, 0.5, 2.0):
        with pytest.raises(ValueError, match="a threshold makes bits"):
            datasets.load_rows(write(file, np.concatenate([signs, 0 * signs + other])))
    with pytest.raises(ValueError, match="a threshold makes bits"):
        datasets.load_rows(write(file, -(BITS[:, :1] ** 0.0)))


def test_suffixes_of_any_case(tmp_path):
    np.save(tmp_path / "x.npy", BITS)
    (tmp_path / "x.npy").rename(tmp_path / "X.NPY")
    np.testing.assert_array_equal(datasets.load_rows(tmp_path / "X.NPY"), BITS)


def test_what_is_above_the_threshold_is_one(file):
    rows = datasets.load_rows(write(file, np.array([[0.0, 1.0, 2.0]])), threshold=1)
    np.testing.assert_array_equal(rows, [[0, 0, 1]])


def test_bools_and_images_are_rows(tmp_path):
    np.save(tmp_path / "x.npy", BITS.astype(bool))
    np.testing.assert_array_equal(datasets.load_rows(tmp_path / "x.npy"), BITS)
    images = np.arange(12).reshape(2, 2, 3) % 2
    np.save(tmp_path / "i.npy", images)
    np.testing.assert_array_equal(datasets.load_rows(tmp_path / "i.npy", 6), images.reshape(2, 6))


def test_names_in_the_first_line_are_passed_over(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("one,two,three\n0,1,0\n1,0,1\n")
    np.testing.assert_array_equal(datasets.load_rows(path), BITS)
    for mark in ("", "\ufeff"):  # of a spreadsheet
        path.write_text(f"{mark}0,1,0\n1,0,1\n", encoding="utf-8")
        np.testing.assert_array_equal(datasets.load_rows(path), BITS)
    path.write_text("0,,0\n1,0,1\n")  # a gap, not names
    with pytest.raises(ValueError, match=r"cannot read x\.csv"):
        datasets.load_rows(path)


@pytest.mark.parametrize(
    ("rows", "settings", "words"),
    [
        (GREY, {}, r"runs from 0\.0 to 255\.0.*a threshold makes bits"),
        (-GREY / 255, {}, r"runs from -1\.0"),
        (GREY, {"n_visible": 4}, r"shape \(2, 3\): expected \(n_samples, 4\)"),
        (GREY, {"threshold": 255}, "threshold is 255, and makes all of rows.* 0: expected"),
        (GREY, {"threshold": -1}, "makes all of rows.* 1"),
        (GREY, {"threshold": "half"}, "threshold is 'half'"),
        (GREY, {"threshold": np.nan}, "threshold is nan"),
        (GREY * np.nan, {}, "rows.* holds 6 NaN"),
        (GREY * np.nan, {"threshold": 3}, "rows.* holds 6 NaN"),
    ],
)
def test_what_is_no_data_is_refused_by_name(file, rows, settings, words):
    with pytest.raises(ValueError, match=words) as caught:
        datasets.load_rows(write(file, rows), **settings)
    assert file.name in str(caught.value) or "threshold is" in str(caught.value)


def test_infinities_are_not_intensities(file):
    with pytest.raises(ValueError, match=r"runs from 0\.0 to inf"):
        datasets.load_rows(write(file, np.array([[0.0, np.inf, 1.0]])))


def test_damaged_and_foreign_files_are_named(tmp_path):
    bomb = np.array([object()], dtype=object)
    for name, content in (
        ("a.npy", b"no array"),
        ("a.npz", b"PK no archive"),
        ("a.csv", b"1,2\n3\n"),
        ("b.csv", b"1,2\n3,x\n"),
        ("c.csv", b"\xff\xfe\x00"),
        ("empty.npy", b""),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=name):
            datasets.load_rows(tmp_path / name)
    np.save(tmp_path / "bomb.npy", bomb, allow_pickle=True)
    with pytest.raises(ValueError, match=r"cannot read bomb\.npy") as caught:
        datasets.load_rows(tmp_path / "bomb.npy")
    assert "pickle" not in str(caught.value)
    np.savez(tmp_path / "two.npz", x=BITS, y=np.zeros(2))
    with pytest.raises(ValueError, match=r"two\.npz: expected one array in it, found x, y"):
        datasets.load_rows(tmp_path / "two.npz")
    for rows in (np.zeros((0, 3)), np.zeros(3), np.zeros(())):
        np.save(tmp_path / "x.npy", rows)
        with pytest.raises(ValueError, match=r"x\.npy holds an array of shape"):
            datasets.load_rows(tmp_path / "x.npy")


@pytest.mark.filterwarnings("error")
def test_a_csv_without_rows_is_refused(tmp_path):
    for content in ("", "one,two\n"):
        (tmp_path / "x.csv").write_text(content)
        with pytest.raises(ValueError, match=r"x\.csv"):
            datasets.load_rows(tmp_path / "x.csv")


def test_names_of_files(tmp_path):
    with pytest.raises(ValueError, match=r"x\.txt is no data file: expected one of .npy, .npz"):
        datasets.load_rows(tmp_path / "x.txt")
    with pytest.raises(FileNotFoundError, match=r"no data file .*x\.npy"):
        datasets.load_rows(tmp_path / "x.npy")
