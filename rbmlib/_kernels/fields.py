"""Float64 fields of binary states, summed in the order of the units.

A BLAS product may round a row differently when the number of rows changes; here a chain's
digits are its own, so chains added to a run later are those of one larger run, bit for bit.
"""

import numba
import numpy as np


def fields(v, weights) -> np.ndarray:
    """``v @ weights`` (n_chains, n_columns) of states of zeros and ones."""
    out = np.zeros((v.shape[0], weights.shape[1]))
    _add_active_rows(
        np.ascontiguousarray(v, np.float32), np.ascontiguousarray(weights, np.float64), out
    )
    return out


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _add_active_rows(v, weights, out):
    for chain in range(v.shape[0]):
        for unit in range(v.shape[1]):
            if v[chain, unit] != 0:
                for column in range(weights.shape[1]):
                    out[chain, column] += weights[unit, column]
