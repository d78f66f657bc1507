"""The rows of a live training that overfits: DNA, or the reader's own."""

import numpy as np
import pytest

from rbmbook.live import NO_THRESHOLD, live_rows


def stored(folder, rows) -> str:
    np.save(folder / "rows.npy", rows)
    return str(folder / "rows.npy")


def test_dna_without_data():
    rows = live_rows("", NO_THRESHOLD, 0)
    assert (rows.few.shape, rows.validation.shape) == ((100, 180), (600, 180))
    assert rows.sentence() == (
        "The live training is on 100 rows of DNA (180 columns); 600 other rows are for validation."
    )


@pytest.mark.parametrize(("n", "few", "others"), [(50, 25, 25), (150, 75, 75), (900, 100, 600)])
def test_own_rows_are_used_once(tmp_path, n, few, others):
    own = (np.arange(n)[:, None] >> np.arange(10) & 1).astype(np.uint8)  # rows that differ
    rows = live_rows(stored(tmp_path, own), NO_THRESHOLD, 3)
    assert (len(rows.few), len(rows.validation)) == (few, others)
    used = np.concatenate([rows.few, rows.validation])
    assert len(np.unique(used, axis=0)) == few + others
    assert not np.array_equal(used, own[: few + others])


def test_a_threshold_makes_bits(tmp_path):
    own = np.tile([0.2, 0.6], (60, 1))
    assert live_rows(stored(tmp_path, own), 0.5, 0).few.tolist() == [[0, 1]] * 30


def test_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"threshold is 0\.5, but no data"):
        live_rows("", 0.5, 0)
    with pytest.raises(ValueError, match=r"data is .*39 rows: expected 40 or more"):
        live_rows(stored(tmp_path, np.ones((39, 3), np.uint8)), NO_THRESHOLD, 0)
    with pytest.raises(ValueError, match=r"data is .*intensities"):
        live_rows(stored(tmp_path, np.full((60, 3), 0.3)), NO_THRESHOLD, 0)
