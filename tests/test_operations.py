"""Counts of operations: against counts by hand, and refused where a verdict would be typed in."""

import numpy as np
import pytest

from rbmbook.operations import Counted, counting, operations, solved


@pytest.mark.parametrize(
    ("work", "n"),
    [
        (lambda a, b: a @ b, 3 * 4 + 3 * 3),
        (lambda a, b: np.exp(-a), 2 * 12),
        (lambda a, b: 2.0 / b, 4),
        (lambda a, b: 1 - b, 4),
        (lambda a, b: np.ones(4) < b, 4),
        (lambda a, b: b.sum(), 3),
        (lambda a, b: a.max(axis=1), 3 * 3),
        (lambda a, b: np.log(b**2), 8),
        (lambda a, b: a.T[::-1], 0),
    ],
)
def test_operations_by_hand(work, n):
    a, b = counting(np.arange(1.0, 13).reshape(3, 4)), counting(np.ones(4))
    assert operations(lambda: work(a, b)) == n


def test_counted_numbers_are_what_they_are():
    x = np.random.default_rng(0).normal(size=(4, 4))
    same = np.exp(counting(x) @ counting(x.T)) / 3
    assert same.astype(float) == pytest.approx(np.exp(x @ x.T) / 3)
    assert type(same[0, 0]) is Counted
    spread = x @ x.T + np.eye(4)
    assert solved(spread, x[0]) == pytest.approx(np.linalg.solve(spread, x[0]))


def test_elimination_takes_a_third_of_a_cube():
    def of(n):
        return operations(lambda: solved(counting(np.eye(n) + 1), counting(np.ones(n))))

    assert of(60) / (2 * 60**3 / 3) == pytest.approx(1, rel=0.1)
