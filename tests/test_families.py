"""The sequences of the lesson proteins: read, cut in two, refused; mutations; letters drawn."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import rbmlib as rl
from rbmbook import families, pictures_proteins

RNG = np.random.default_rng(0)
LETTERS = RNG.integers(0, 4, size=(60, 8))


def fasta(path, letters=LETTERS):
    words = ("".join("ACGT"[k] for k in row) for row in letters)
    path.write_text("".join(f">s\n{word}\n" for word in words))
    return str(path)


def one_hot(letters=LETTERS):
    return np.eye(4, dtype=np.uint8)[letters].reshape(len(letters), -1)


def test_the_same_sequences_from_fasta_and_one_hot(tmp_path):
    np.savez(tmp_path / "rows.npz", rows=one_hot())
    first = families.family("", fasta(tmp_path / "s.fasta"), "ACGT", 3)
    second = families.family("", str(tmp_path / "rows.npz"), "ACGT", 3)
    np.testing.assert_array_equal(first.train, second.train)
    assert (len(first.train), len(first.held_out)) == (45, 15)
    whole = np.concatenate([first.train, first.held_out])
    assert {*map(bytes, whole)} == {*map(bytes, one_hot())}
    assert first.word(first.example) == "".join(
        "ACGT"[k] for k in first.example.reshape(8, 4) @ range(4)
    )


def test_far_sequences_have_no_near_relative(tmp_path):
    found = families.family("", fasta(tmp_path / "s.fasta"), "ACGT", 0)
    equal = [max(int(a @ b) for b in found.train.astype(int)) for a in found.held_out.astype(int)]
    np.testing.assert_array_equal(found.far, np.array(equal) <= 5)  # of 8: 5.6


def test_the_ww_domain_holds_the_example():
    found = families.family()
    assert found.words == "WW domain"
    rows = np.concatenate([found.train, found.held_out])
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert (rows == found.example).all(axis=1).any()
    assert found.word(found.example) == families.YAP


def test_what_a_chapter_cannot_take_is_refused_by_the_parameter(tmp_path):
    good = fasta(tmp_path / "good.fasta")
    bad = tmp_path / "bad.fasta"
    bad.write_text(">a\nACGT\n>b\nACXT\n")
    two, none, narrow, few = one_hot(), one_hot(), one_hot()[:, :-1], one_hot()[:20]
    two[4, 8:12], none[0, :4] = (1, 0, 1, 0), 0
    for name, rows in {"two": two, "none": none, "narrow": narrow, "few": few}.items():
        np.savez(tmp_path / f"{name}.npz", rows=rows)
    rl.testsystems.random_rbm(32, 3, rng=0).save(tmp_path / "bits.npz")
    for arguments, words in (
        (("no-such-model",), "model is 'no-such-model'"),
        (
            (str(tmp_path / "bits.npz"), good, "ACGT"),
            "model.*expected, as the data have, Potts of 8 sites with 4",
        ),
        (("", str(bad), "ACGT"), r"data is .*line 4: 'X' is not in the alphabet"),
        (("", "absent.fasta"), "data is 'absent.fasta': no FASTA file"),
        (("", str(tmp_path / "two.npz"), "ACGT"), r"row 5, site 3, columns 9 to 12.*a sum of 2"),
        (("", str(tmp_path / "none.npz"), "ACGT"), r"row 1, site 1, columns 1 to 4.*a sum of 0"),
        (("", str(tmp_path / "narrow.npz"), "ACGT"), "31 columns: expected 4 a site"),
        (("", str(tmp_path / "few.npz"), "ACGT"), "20 different sequences: expected 40"),
        (("", good, "AAC"), "alphabet is 'AAC'"),
        (("", "", "ACGT"), "data is '': the WW domain has an alphabet of its own"),
    ):
        with pytest.raises(ValueError, match=words):
            families.family(*arguments)


def test_begin_reads_a_model_of_the_readers_own(tmp_path, capsys):
    rbm = rl.RBM(rl.Potts(np.zeros(32), 4), rl.Binary(np.zeros(2)), np.ones((32, 2)))
    rbm.save(tmp_path / "mine.npz")
    names = {"model": str(tmp_path / "mine.npz"), "data": fasta(tmp_path / "s.fasta")}
    names |= {"alphabet": "ACGT", "seed": 0}
    names["__annotations__"] = {"model": str, "data": str, "alphabet": str, "seed": int}
    found = families.begin(names)
    np.testing.assert_array_equal(found.model.weights, rbm.weights)
    assert "45 different sequences of 8 sites" in capsys.readouterr().out


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Sequences of two motifs, and a model of them."""
    motif = np.array([[0, 1, 2, 3, 0, 1, 2, 3], [3, 3, 2, 2, 1, 1, 0, 0]])[RNG.integers(0, 2, 400)]
    letters = np.where(RNG.random(motif.shape) < 0.2, RNG.integers(0, 4, motif.shape), motif)
    path = fasta(tmp_path_factory.mktemp("small") / "s.fasta", letters)
    found = families.family("", path, "ACGT", 0)
    return found, families.trained(found, 3, 300, 0)


def test_mutations_are_differences_of_log_density(small):
    found, rbm = small
    change = families.mutations(rbm, found.example, 4)
    own = found.example.reshape(8, 4).argmax(axis=1)
    np.testing.assert_allclose(change[range(8), own], 0, atol=1e-9)
    mutant = found.example.reshape(8, 4).astype(float)
    mutant[5] = [0, 0, 1, 0]
    wanted = rbm.log_density(mutant.reshape(1, -1)) - rbm.log_density(found.example.astype(float))
    assert change[5, 2] == pytest.approx(float(wanted[0]))


def test_a_trained_model_is_better_than_sites_alone_where_sites_go_together(small):
    found, rbm = small
    alone = families.without_coupling(found.visible)
    gain = rl.log_likelihood(rbm, found.held_out, rl.exact(rbm)) - rl.log_likelihood(
        alone, found.held_out, rl.exact(alone)
    )
    assert gain.mean() > 0.5


def test_letters_are_as_high_as_their_numbers(small):
    _, ax = plt.subplots()
    pictures_proteins.letter_stacks(ax, [[2.0, -1.0], [0.0, 3.0]], "AC")
    boxes = [patch.get_path().get_extents() for patch in ax.patches]
    found = sorted((round(box.x0, 2), round(box.y0, 2), round(box.height, 2)) for box in boxes)
    assert found == [(0.55, -1.0, 0.96), (0.55, 0.0, 1.92), (1.55, 0.0, 2.88)]
    plt.close("all")


def test_every_picture_is_drawn(small):
    found, rbm = small
    pictures_proteins.family_logo(found)
    change = families.mutations(rbm, found.example, 4)
    pictures_proteins.mutation_map(change, found.word(found.example), "ACGT")
    runs = pd.DataFrame({"n_temperatures": [5, 5, 9], "mean_log_z": [1.0, 2, 3]})
    pictures_proteins.ten_chains(runs.assign(mean_std_error=0.1), 2.0)
    titles = [ax.get_title() for ax in plt.gcf().axes]
    assert titles == ["5 steps", "9 steps"]
    plt.close("all")
