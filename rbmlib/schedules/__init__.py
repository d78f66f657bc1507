"""Annealing schedules: the positions of the steps along a path.

A schedule is an array of K + 1 betas that increases from 0 to 1. `linear` and `sm08` need no run.
`varopt` and `friction` use a pilot run of `rbmlib.ais` to place K steps of equal length, by a
measure of length along the path. Their arguments are the run, K, and ``smoothing``, the standard
deviation of the averaging window in recorded points (0: none). A TypeError or ValueError says how
to make a suitable pilot.

With perfect transitions, the variance of a log-weight is ``sum_k (d beta_k)^2 g(beta_k)``, where g
is the variance of d/dbeta log p*_beta (Kiwaki 2015, eq. 7). If chains remember tau steps, it is
``sum_k (d beta_k)^2 zeta(beta_k)`` with the friction coefficient zeta = g tau (Sivak & Crooks
2012). With a density of steps ``dk/dbeta``, both become integrals, such as that of
``g / (dk/dbeta)``, and are smallest if the density is proportional to the root of g or of zeta.
"""

from .fixed import decelerate as decelerate
from .fixed import linear as linear
from .fixed import sm08 as sm08
from .pilots import friction as friction
from .pilots import friction_coefficient as friction_coefficient
from .pilots import predicted_variance as predicted_variance
from .pilots import slope_variance as slope_variance
from .pilots import varopt as varopt
