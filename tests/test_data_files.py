"""Files of data: rows, aligned sequences, and models by name or from a path."""

import gzip
import hashlib

import numpy as np
import pytest
from helpers_models import same_model
from scipy.io import savemat

import rbmlib as rl
from rbmbook import images as book_images
from rbmbook.models import ww_domain
from rbmlib import datasets
from rbmlib.datasets import load_fasta, load_ww
from rbmlib.datasets import register as _register
from rbmlib.datasets.files import find
from rbmlib.datasets.register import REMOTE, Remote

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


def test_what_is_above_the_threshold_is_one(file):
    rows = datasets.load_rows(write(file, np.array([[0.0, 1.0, 2.0]])), threshold=1)
    np.testing.assert_array_equal(rows, [[0, 0, 1]])


def test_bools_and_images_are_rows_and_suffixes_of_any_case(tmp_path):
    np.save(tmp_path / "x.npy", BITS.astype(bool))
    path = (tmp_path / "x.npy").rename(tmp_path / "X.NPY")
    np.testing.assert_array_equal(datasets.load_rows(path), BITS)
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
        (GREY, {"n_visible": 4}, r"shape \(2, 3\): expected \(n_samples, 4\)"),
        (GREY, {"threshold": 255}, "threshold is 255, and makes all of rows.* 0: expected"),
        (GREY, {"threshold": "half"}, "threshold is 'half'"),
        (GREY * np.nan, {}, "rows.* holds 6 NaN"),
        (np.array([[0.0, np.inf, 1.0]]), {}, r"runs from 0\.0 to inf"),
    ],
)
def test_what_is_no_data_is_refused_by_name(file, rows, settings, words):
    with pytest.raises(ValueError, match=words) as caught:
        datasets.load_rows(write(file, rows), **settings)
    assert file.name in str(caught.value) or "threshold is" in str(caught.value)


@pytest.mark.filterwarnings("error")
def test_damaged_and_foreign_files_are_named(tmp_path):
    bomb = np.array([object()], dtype=object)
    for name, content in (
        ("a.npy", b"no array"),
        ("a.npz", b"PK no archive"),
        ("a.csv", b"1,2\n3\n"),
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


# aligned sequences, and the published RBM of them -----------------------------------------------

TWO = ">one\nACGT\n>two of them\nAC\nCA\n"


@pytest.fixture
def fasta(tmp_path):
    def write(text, name="a.fasta"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_sequences_are_read_line_by_line(fasta, tmp_path):
    found = load_fasta(fasta(TWO), "ACGT")
    assert found.names == ("one", "two of them")
    assert found.letters.tolist() == [[0, 1, 2, 3], [0, 1, 1, 0]]
    assert found.sequences == ["ACGT", "ACCA"]
    assert repr(found) == "<Alignment: 2 x 4 of ACGT>"
    assert rl.Potts(np.zeros(16), q=4).holds(found.rows)
    np.testing.assert_array_equal(found.rows.reshape(2, 4, 4).argmax(axis=2), found.letters)
    (tmp_path / "a.gz").write_bytes(gzip.compress(TWO.encode()))
    assert load_fasta(tmp_path / "a.gz", "ACGT").sequences == found.sequences


@pytest.mark.filterwarnings("error")
def test_dna_in_the_letters_of_proteins_is_told(fasta):
    for text, letters in ((TWO, "ACGT"), (TWO.replace("G", "N"), "ACNT"), (">a\nA-T\n", "-AT")):
        with pytest.warns(UserWarning, match=f"a.fasta holds only the letters {letters}.*alphabet"):
            assert load_fasta(fasta(text)).rows.shape[1] % 21 == 0
    load_fasta(fasta(TWO), "ACGT")
    load_fasta(fasta(TWO.replace("G", "L")))


WRONG = {
    ">one\nACGT\n>two\nAC\nGX\n": r"a\.fasta, line 5: 'X' is not in the alphabet 'ACGT'",
    ">one\nACGT\n>two\nACG\n": r"a\.fasta, line 3: sequence 'two' has 3 letters, the first 4",
    "ACGT\n": r"a\.fasta, line 1: expected a line '>name' before any sequence",
    ">one\n": "a.fasta holds no sequence",
    ">one\nACé\n": "cannot read a.fasta: 'ascii' codec",
}


@pytest.mark.parametrize(("text", "words"), WRONG.items())
def test_what_is_no_alignment_is_named(text, words, fasta):
    with pytest.raises(ValueError, match=words):
        load_fasta(fasta(text), "ACGT")


def test_a_damaged_archive_is_named(fasta, tmp_path):
    with pytest.raises(FileNotFoundError, match="no FASTA file"):
        load_fasta(tmp_path / "none")
    with pytest.raises(ValueError, match="alphabet is 'AA': expected a word of different letters"):
        load_fasta(fasta(TWO), "AA")
    (tmp_path / "D.GZ").write_bytes(gzip.compress(TWO.encode() * 20)[:-9])
    with pytest.raises(ValueError, match=r"cannot read D\.GZ"):
        load_fasta(tmp_path / "D.GZ", "ACGT")


def test_the_family_is_there_as_it_was_aligned():
    family = load_ww()
    assert family.letters.shape == (17_233, 31)
    assert family.names[-1] == "S17233"
    assert family.sequences[1] == "--FPWIELKSSKTGQFYYFNRNSNVSTYTLP"
    assert not family.letters.flags.writeable
    rates = np.bincount(family.letters.ravel(), minlength=21)  # counted in the file itself
    assert dict(zip("TPW-C", rates[[16, 12, 18, 20, 1]], strict=True)) == {
        "T": 55_994, "P": 45_054, "W": 35_435, "-": 30_269, "C": 2_367,
    }  # fmt: skip


# the published model --------------------------------------------------------------------------


def ww_model():
    """On this machine; nothing is downloaded for a test."""
    if find(REMOTE["ww_domain"]) is None:
        pytest.skip("it is not on this machine: put it in a folder and name it RBMLIB_DATA")
    return ww_domain()


def test_a_pickle_and_a_copy_of_its_arrays_are_the_same_model(tmp_path, monkeypatch):
    """As Python 2 wrote it: protocol 0, of classes that are not here."""
    rng, names = np.random.default_rng(0), rl.DoubleReLU.constants
    hidden = {name: rng.uniform(0.5, 2, 2) for name in names}
    visible, weights = {"fields": rng.normal(size=(4, 3))}, rng.normal(size=(2, 4, 3))
    layer, whole = b"clayer\nLayer\n", b"crbm\nRBM\n"
    held = {"weights": weights, "hlayer": made(layer, hidden), "vlayer": made(layer, visible)}
    (tmp_path / "m.data").write_bytes(made(whole, held) + b".")
    np.savez(tmp_path / "m.npz", weights=np.moveaxis(weights, 0, 2), **hidden, **visible)
    for name in ("m.data", "m.npz"):
        monkeypatch.setattr(rl.datasets, "fetch", lambda _, name=name: tmp_path / name)
        rbm = ww_domain()
        np.testing.assert_array_equal(rbm.weights.reshape(4, 3, 2), np.moveaxis(weights, 0, 2))
        np.testing.assert_array_equal(rbm.visible.bias, visible["fields"].ravel())
        for name in names:
            np.testing.assert_array_equal(getattr(rbm.hidden, name), hidden[name])


def made(kind: bytes, held: dict) -> bytes:
    """An object of a class that Python 2 named so, and what it holds."""
    items = b"".join(written(key) + written(value) + b"s" for key, value in held.items())
    return b"ccopy_reg\n_reconstructor\n(" + kind + b"c__builtin__\nobject\nNtR(d" + items + b"b"


def written(x) -> bytes:
    if isinstance(x, bytes):
        return x
    if isinstance(x, str):
        return b"S'" + x.encode() + b"'\n"
    array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
    kind = b"cnumpy\ndtype\n(S'f8'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntb"
    shape = b"(" + b"".join(b"I%d\n" % n for n in x.shape) + b"t"
    content = b"S" + repr(x.tobytes())[1:].encode() + b"\n"
    return array + b"(I1\n" + shape + kind + b"I00\n" + content + b"tb"


def test_a_published_model_is_that_of_its_arrays():
    rbm, letters = ww_model(), load_ww().letters[::40]
    assert repr(rbm) == "RBM(Potts(651, q=21), DoubleReLU(100))"
    w, fields = rbm.weights.reshape(31, 21, 100), rbm.visible.bias.reshape(31, 21)
    x = sum(w[i, letters[:, i]] for i in range(31))
    own = sum(fields[i, letters[:, i]] for i in range(31))
    wanted = own + rbm.hidden.cumulant(x)
    np.testing.assert_allclose(rbm.log_density(load_ww().rows[::40]), wanted, rtol=1e-12)


@pytest.mark.statistical
def test_log_z_of_a_published_model_is_that_of_others():
    """918.435 (0.039) by its authors, 918.398 (0.022) by an independent program."""
    rbm = ww_model()
    base = rl.base_rate(load_ww().rows, 1e-3, rbm.visible)
    run = rl.ais(rl.GeometricPath(rbm, base), rl.schedules.linear(800), 100, rng=0)
    assert abs(run.log_z - 918.398) < 4 * np.hypot(run.std_error, 0.022) < 0.5


# models and images by name or from a path -------------------------------------------------------


def test_load_course_test(data_folders, monkeypatch):
    rows = np.random.default_rng(0).integers(0, 2, size=(6, 4), dtype=np.uint8)
    batches = rows.reshape(2, 3, 4).transpose(1, 2, 0)  # (image in batch, pixel, batch)
    savemat(data_folders.own / "test.mat", {"testbatchdata": batches})
    sha256 = hashlib.sha256((data_folders.own / "test.mat").read_bytes()).hexdigest()
    monkeypatch.setitem(_register.REMOTE, "course_test", Remote("test.mat", "https://x/", sha256))
    found = book_images.load_course_test.__wrapped__()
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, rows)
    assert not found.flags.writeable


def test_load_rbm_from_a_path_and_by_name(data_folders, monkeypatch):
    made, path = rl.testsystems.random_rbm(5, 3, rng=1), data_folders.own / "mine.npz"
    made.save(path)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setitem(_register.REMOTE, "h10", Remote("mine.npz", "https://x/", sha256))
    for source in (path, str(path), "h10"):
        assert same_model(datasets.load_rbm(source), made)


def test_unknown_rbm_names_the_known_ones():
    words = r"name_or_path is 'h_500', neither .*RBM \(did you mean 'h500'\?\)"
    with pytest.raises(ValueError, match=words) as caught:
        datasets.load_rbm("h_500")
    names = [*_register.COMMITTED_RBMS, *_register.PUBLISHED_RBMS]
    assert f"expected one of {', '.join(names)}; or the path of an .npz" in str(caught.value)
