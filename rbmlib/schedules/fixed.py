"""Schedules without a pilot run: linear and hand-made ones, and a cap on the steps of others."""

import numpy as np

from ..checks import count, number, schedule

MOST_STEPS = 100_000_000  # of a schedule, which must fit in memory


def linear(n_temperatures: int) -> np.ndarray:
    """Return K = ``n_temperatures`` equal steps: K + 1 betas, ``beta_k = k / K``.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rl.schedules.linear(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return np.linspace(0.0, 1.0, count("n_temperatures", n_temperatures, most=MOST_STEPS) + 1)


def sm08(n_temperatures: int = 14_500) -> np.ndarray:
    """Return the hand-made schedule of Salakhutdinov & Murray (2008), with 14,500 steps.

    It has 500 uniform steps to 0.5, 4,000 to 0.9 and 10,000 to 1. Another ``n_temperatures`` cuts
    the same piecewise linear curve into that many steps.
    """
    n = count("n_temperatures", n_temperatures, most=MOST_STEPS)
    at = np.array([0, 500, 4_500, 14_500]) / 14_500
    return np.interp(np.arange(n + 1) / n, at, [0.0, 0.5, 0.9, 1.0])


def decelerate(betas, max_step: float, n_steps: int | None = None) -> np.ndarray:
    """Cap the K steps of a schedule (K + 1,) at ``max_step`` (Kiwaki 2015, Algorithm 3).

    The steps are the fixed point of the algorithm, ``min(s * step, max_step)``, with s such that
    they sum to 1. (The printed algorithm does not stop correctly, because its flag is inverted.) If
    ``max_step`` is meant for a schedule of ``n_steps`` steps, the cap is
    ``max_step * n_steps / K``. Raises a ValueError if steps of that size do not reach 1.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rl.schedules.decelerate([0.0, 0.1, 0.4, 1.0], 0.5).round(3).tolist()
    [0.0, 0.125, 0.5, 1.0]
    """
    betas = schedule(betas)
    steps = np.diff(betas)
    cap = number("max_step", max_step, "a step of beta above 0, such as 0.003", above=0)
    least = 1 / (steps.size if n_steps is None else count("n_steps", n_steps))
    if cap < least * (1 - 1e-12):
        end = f"steps of this size end at {cap / least:.3g}"
        raise ValueError(f"max_step is {max_step}: {end}; expected at least {least:.3g}")
    cap *= 1 / (least * steps.size)
    if steps.max() <= cap:
        return betas
    rising, capped = np.sort(steps), np.arange(steps.size)[::-1]
    scales = (1 - capped * cap) / np.cumsum(rising)  # if all but so many are below the cap
    fits = (scales > 0) & (scales * rising <= cap * (1 + 1e-12))  # and these really are below
    scale = scales[fits][-1] if fits.any() else np.inf
    betas = np.concatenate([[0.0], np.cumsum(np.minimum(scale * steps, cap))])
    return betas / betas[-1]
