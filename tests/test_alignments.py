"""Aligned sequences, and the published RBM of them."""

import gzip
import warnings

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.ww_domain import ww_domain
from rbmlib.datasets import load_fasta, load_ww
from rbmlib.datasets.files import find
from rbmlib.datasets.register import REMOTE

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


def test_dna_in_the_letters_of_proteins_is_told(fasta):
    for text, letters in ((TWO, "ACGT"), (TWO.replace("G", "N"), "ACNT"), (">a\nA-T\n", "-AT")):
        with pytest.warns(UserWarning, match=f"a.fasta holds only the letters {letters}.*alphabet"):
            assert load_fasta(fasta(text)).rows.shape[1] % 21 == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_fasta(fasta(TWO), "ACGT")
        load_fasta(fasta(TWO.replace("G", "L")))


WRONG = {
    ">one\nACGT\n>two\nAC\nGX\n": r"a\.fasta, line 5: 'X' is not in the alphabet 'ACGT'",
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


# the published model --------------------------------------------------------------------------


def published():
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
    """By the formula of the paper, a site at a time."""
    rbm, letters = published(), load_ww().letters[::40]
    assert repr(rbm) == "RBM(Potts(651, q=21), DoubleReLU(100))"
    w, fields = rbm.weights.reshape(31, 21, 100), rbm.visible.bias.reshape(31, 21)
    x = sum(w[i, letters[:, i]] for i in range(31))
    own = sum(fields[i, letters[:, i]] for i in range(31))
    wanted = own + rbm.hidden.cumulant(x)
    np.testing.assert_allclose(rbm.log_density(load_ww().rows[::40]), wanted, rtol=1e-12)


@pytest.mark.statistical
def test_log_z_of_a_published_model_is_that_of_others():
    """918.435 (0.039) by its authors, 918.398 (0.022) by an independent program."""
    rbm = published()
    base = rl.base_rate(load_ww().rows, 1e-3, rbm.visible)
    run = rl.ais(rl.GeometricPath(rbm, base), rl.schedules.linear(800), 100, rng=0)
    assert abs(run.log_z - 918.398) < 4 * np.hypot(run.std_error, 0.022) < 0.5
