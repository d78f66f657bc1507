"""Aligned sequences, and RBMs of them as ProteinMotifRBM writes them."""

import gzip
import warnings

import numpy as np
import pytest
from helpers_models import published

import rbmlib as rl
from rbmlib.datasets import load_fasta, load_ww

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
    assert rl.Categories(np.zeros(16), q=4).holds(found.rows)
    np.testing.assert_array_equal(found.rows.reshape(2, 4, 4).argmax(axis=2), found.letters)
    (tmp_path / "a.gz").write_bytes(gzip.compress(TWO.encode()))
    assert load_fasta(tmp_path / "a.gz", "ACGT").sequences == found.sequences


def test_dna_in_the_letters_of_proteins_is_told(fasta):
    for text, letters in ((TWO, "ACGT"), (TWO.replace("G", "N"), "ACNT"), (">a\nA-T\n", "-AT")):
        with pytest.warns(UserWarning, match=f"a.fasta holds only the letters {letters}.*alphabet"):
            assert load_fasta(fasta(text)).rows.shape[1] % 21 == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_fasta(fasta(TWO), "ACGT")
        load_fasta(fasta(TWO.replace("G", "L")))


WRONG = {
    ">one\nACGT\n>two\nAC\nGX\n": r"a\.fasta, line 5, column 2: 'X' is not in the alphabet 'ACGT'",
    ">one\nACGT\n>two\nACG\n": r"a\.fasta, line 3: sequence 'two' has 3 letters, the first 4",
    "ACGT\n": r"a\.fasta, line 1: expected a line '>name' before any sequence",
    ">one\n": "a.fasta holds no sequence",
    "": "a.fasta holds no sequence",
    ">one\nACé\n": "cannot read a.fasta: 'ascii' codec",
}


@pytest.mark.parametrize(("text", "words"), WRONG.items())
def test_what_is_no_alignment_is_named(text, words, fasta):
    with pytest.raises(ValueError, match=words):
        load_fasta(fasta(text), "ACGT")


def test_other_mistakes_are_named(fasta, tmp_path):
    with pytest.raises(FileNotFoundError, match="no FASTA file"):
        load_fasta(tmp_path / "none")
    with pytest.raises(ValueError, match="alphabet is 'AA': expected a word of different letters"):
        load_fasta(fasta(TWO), "AA")
    with pytest.raises(ValueError, match=r"cannot read b\.gz"):
        load_fasta(fasta(TWO, "b.gz"), "ACGT")
    packed = gzip.compress(TWO.encode() * 20)
    for damaged in (packed[:-9], packed[:10] + bytes([packed[10] ^ 255]) + packed[11:]):
        (tmp_path / "d.fasta.gz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"cannot read d\.fasta\.gz"):
            load_fasta(tmp_path / "d.fasta.gz", "ACGT")
    (tmp_path / "D.GZ").write_bytes(packed)
    assert load_fasta(tmp_path / "D.GZ", "ACGT").letters.shape == (40, 4)


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


# published models ----------------------------------------------------------------------------


class Made(dict):
    """What an object holds; `class_name` is how Python 2 named its class."""

    class_name = "layer", "Layer"


class Whole(Made):
    class_name = "rbm", "RBM"


def written(x) -> bytes:
    """As Python 2 pickled it: protocol 0."""
    if isinstance(x, str | bytes):
        return b"S" + repr(x.encode() if isinstance(x, str) else x)[1:].encode() + b"\n"
    if isinstance(x, int):
        return b"I%d\n" % x
    if isinstance(x, np.ndarray):
        array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
        kind = b"cnumpy\ndtype\n(" + written(x.dtype.str[1:]) + b"I0\nI1\ntR(I3\nS'<'\nNNNI-1\ntb"
        shape = b"(" + b"".join(map(written, x.shape)) + b"t"
        return array + b"(I1\n" + shape + kind + b"I00\n" + written(x.tobytes()) + b"tb"
    items = b"".join(written(key) + written(value) + b"s" for key, value in x.items())
    if not isinstance(x, Made):
        return b"(d" + items
    name = "c{}\n{}\n".format(*x.class_name).encode()
    return b"ccopy_reg\n_reconstructor\n(" + name + b"c__builtin__\nobject\nNtR(d" + items + b"b"


def motif(**changes) -> Whole:
    rng = np.random.default_rng(0)
    hidden = Made({name: rng.uniform(0.5, 2, 2) for name in rl.Rectified.constants})
    held = {
        "visible": "Potts", "hidden": "dReLU", "weights": rng.normal(size=(2, 4, 3)),
        "vlayer": Made(fields=rng.normal(size=(4, 3))), "hlayer": hidden, "n_iter": 7,
    }  # fmt: skip
    return Whole(held | changes)


def test_a_pickle_of_that_program_is_read(tmp_path):
    held = motif()
    (tmp_path / "m.data").write_bytes(written(held) + b".")
    rbm = rl.load_rbm(tmp_path / "m.data")
    np.testing.assert_array_equal(rbm.weights.reshape(4, 3, 2), np.moveaxis(held["weights"], 0, 2))
    np.testing.assert_array_equal(rbm.visible.bias, held["vlayer"]["fields"].ravel())
    for name in rl.Rectified.constants:
        np.testing.assert_array_equal(getattr(rbm.hidden, name), held["hlayer"][name])
    rbm.save(tmp_path / "m.npz")
    assert rl.exact(rl.load_rbm(tmp_path / "m.npz")).log_z == rl.exact(rbm).log_z
    arrays = held["hlayer"] | held["vlayer"] | {"weights": np.moveaxis(held["weights"], 0, 2)}
    np.savez(tmp_path / "arrays.npz", **arrays)
    np.testing.assert_array_equal(rl.load_rbm(tmp_path / "arrays.npz").weights, rbm.weights)


RUN = b"cos\nsystem\n(S'touch executed'\ntR."
HARMFUL = {
    "a call": (
        RUN,
        r"names os\.system, which no file of ProteinMotifRBM does.*nothing was executed",
    ),
    "an instance": (b"(S'touch executed'\nios\nsystem\n.", r"names os\.system"),
    "a builtin": (b"c__builtin__\neval\n(S'1'\ntR.", r"names __builtin__\.eval"),
    "a word that is called": (b"c__builtin__\nint\n(S'1'\ntR.", "damaged, or no file"),
    "something outside": (b"Pelsewhere\n.", "it refers to objects outside"),
    "objects in an array": (
        written(motif(weights=np.array([[1]], dtype="S1"))) + b".",
        r"it holds an array of \|S1, \(1, 1\): expected numbers",
    ),
    "a short array": (
        written(motif()).replace(b"(I2\nI4\nI3\nt", b"(I2\nI4\nI4\nt") + b".",
        "is damaged, or no file",
    ),
    "other layers": (
        written(motif(hidden="Gaussian")) + b".",
        r"it holds layers .*'Gaussian'.*expected .*'dReLU'",
    ),
    "no layer": (written(motif(hlayer=3)) + b".", "is damaged, or no file"),
    "other fields": (
        written(motif(vlayer=Made(fields=np.zeros((5, 3))))) + b".",
        r"it holds weights \(2, 4, 3\) for fields \(5, 3\)",
    ),
    "text": (b"hello", "is damaged, or no file of ProteinMotifRBM"),
    "the end is missing": (written(motif())[:-900], "is damaged, or no file"),
    "nothing": (b"", "is damaged, or no file"),
}


@pytest.mark.parametrize(("content", "words"), HARMFUL.values(), ids=HARMFUL)
def test_nothing_in_a_file_is_executed(content, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.data").write_bytes(content)
    with pytest.raises(ValueError, match=rf"cannot read m\.data: .*{words}"):
        rl.load_rbm("m.data")
    assert [file.name for file in tmp_path.iterdir()] == ["m.data"]


def test_a_published_model_is_that_of_its_arrays():
    """By the formula of the paper, a site at a time."""
    rbm, letters = published("ww_domain"), load_ww().letters[::40]
    assert repr(rbm) == "RBM(Categories(651, q=21), Rectified(100))"
    w, fields = rbm.weights.reshape(31, 21, 100), rbm.visible.bias.reshape(31, 21)
    x = sum(w[i, letters[:, i]] for i in range(31))
    own = sum(fields[i, letters[:, i]] for i in range(31))
    wanted = own + rbm.hidden.cumulant(x)
    np.testing.assert_allclose(rbm.log_density(load_ww().rows[::40]), wanted, rtol=1e-12)


@pytest.mark.statistical
def test_log_z_of_a_published_model_is_that_of_others():
    """918.435 (0.039) by its authors, 918.398 (0.022) by an independent program."""
    rbm = published("ww_domain")
    base = rl.base_rate(load_ww().rows, 1e-3, rbm.visible)
    run = rl.ais(rl.GeometricPath(rbm, base), rl.schedules.linear(800), 100, rng=0)
    assert abs(run.log_z - 918.398) < 4 * np.hypot(run.std_error, 0.022) < 0.5
