"""The lesson on proteins: parameters refused by name, and its sequence logo."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.page import begin_families

LETTERS = np.random.default_rng(0).integers(0, 4, size=(60, 8))


def fasta(path, letters=LETTERS):
    words = ("".join("ACGT"[k] for k in row) for row in letters)
    path.write_text("".join(f">s\n{word}\n" for word in words))
    return str(path)


def begun(model="", data="", alphabet="ACGT"):
    names = {"model": model, "data": data, "alphabet": alphabet}
    begin_families(names | {"__annotations__": dict.fromkeys(names, str)})


def test_what_a_chapter_cannot_take_is_refused_by_the_parameter(tmp_path):
    good = fasta(tmp_path / "good.fasta")
    few = fasta(tmp_path / "few.fasta", np.tile(LETTERS[:39], (2, 1)))
    bad = tmp_path / "bad.fasta"
    bad.write_text(">a\nACGT\n>b\nACXT\n")
    rl.testsystems.random_rbm(32, 3, rng=0).save(tmp_path / "bits.npz")
    for arguments, words in (
        (("no-such-model", good), "model is 'no-such-model'"),
        (
            (str(tmp_path / "bits.npz"), good),
            "model.*expected, as the data have, Potts of 8 sites with 4",
        ),
        (("", str(bad)), r"data is .*line 4: 'X' is not in the alphabet"),
        (("", "absent.fasta"), "data is 'absent.fasta': no FASTA file"),
        (("", few), "39 different sequences: expected 40"),
        (("", good, "AAC"), "alphabet is 'AAC'"),
        (("", ""), "data is '': the WW domain has an alphabet of its own"),
    ):
        with pytest.raises(ValueError, match=words):
            begun(*arguments)


def test_a_model_of_the_readers_own_is_taken(tmp_path):
    rbm = rl.RBM(rl.Potts(np.zeros(32), 4), rl.Binary(np.zeros(2)), np.ones((32, 2)))
    rbm.save(tmp_path / "mine.npz")
    begun(str(tmp_path / "mine.npz"), fasta(tmp_path / "s.fasta"))
