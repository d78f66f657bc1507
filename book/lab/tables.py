"""Numbers as text, with their errors, and the interval of a printed ESS."""

import math
from functools import cache

import numpy as np

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@cache
def ess_interval(ess: float, n_chains: int, n_repeats: int = 1000) -> tuple[float, float]:
    """95% interval of a published ESS of ``n_chains`` with normal log-weights.

    The variance of the log-weights is log(n / ESS), and the interval is by simulation.
    """
    rng = np.random.default_rng(0)
    sd = math.sqrt(math.log(n_chains / ess))
    weights = np.exp(sd * rng.normal(size=(n_repeats, n_chains)))
    relative = weights / weights.mean(axis=1, keepdims=True)
    found = n_chains / (1 + relative.var(axis=1, ddof=1))
    low, high = np.quantile(found / np.median(found), (0.025, 0.975))
    return float(ess * low), float(ess * high)


def number(value: float, digits: int = 3) -> str:
    """A number for a table: significant digits, thousands separators, powers of ten if tiny.

    Examples
    --------
    >>> number(0.018234), number(46038.1), number(1.52e-9), number(float("nan"))
    ('0.0182', '46,038', '1.52 × 10⁻⁹', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if value != 0 and not 1e-4 <= abs(value) < 1e9:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa} × 10{str(int(power)).translate(_RAISED)}"
    return f"{value:,.{_decimals(value, digits)}f}"


def listed(items) -> str:
    """Items separated by commas, with "and" before the last.

    Examples
    --------
    >>> listed("abc"), listed(["a"])
    ('a, b and c', 'a')
    """
    items = [*items]
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def span(values, text=lambda x: f"{x:.3g}".replace("-", "−")) -> str:
    """The smallest and the largest value as text, or one of them if both read the same."""
    every = [*values]
    return " to ".join(dict.fromkeys(map(text, (min(every), max(every)))))


def with_error(value: float, error: float, most: int = 11) -> str:
    """A value with its standard error: three digits of the error, equally many decimals of both.

    Examples
    --------
    >>> with_error(460.38149, 0.018234), with_error(-1234.56, 13.94), with_error(460.4, 0.0)
    ('460.3815 ± 0.0182', '-1,234.6 ± 13.9', '460 ± 0')
    """
    if not math.isfinite(error) or error == 0 or not math.isfinite(value):
        return number(value) + ("" if math.isnan(error) else f" ± {number(error)}")
    if error < 1e-9:
        return f"{value:,.9f} ± {number(error)}"
    places = min(most, _decimals(error, 3))
    return f"{value:,.{places}f} ± {error:,.{places}f}"


def _decimals(value: float, digits: int) -> int:
    if value == 0:
        return 0
    return max(0, digits - 1 - math.floor(math.log10(float(f"{abs(value):.{digits - 1}e}"))))
