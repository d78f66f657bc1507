"""Annealing schedules: where the steps along a path lie.

A schedule is a plain increasing array of beta from 0 to 1, of length K + 1 for K steps. `linear`
and `sm08` need nothing; `varopt` and `friction` are read off a pilot run of `rbmlib.ais`, and put
the steps where a length along the path grows: K steps of equal length. They take the run, K, and
``smoothing``, the standard deviation in recorded points of the window over which what is read off
is averaged (0: none); TypeError or ValueError tells how to make a pilot that will do.

With perfect transitions the variance of a log-weight is ``sum_k (d beta_k)^2 g(beta_k)``, g the
variance of d/dbeta log p*_beta (Kiwaki 2015, eq. 7). Chains that remember tau steps make it
``sum_k (d beta_k)^2 zeta(beta_k)``, zeta = g tau the friction coefficient (Sivak & Crooks 2012).
A density of steps ``dk/dbeta`` turns both into an integral of ``g / (dk/dbeta)``, which is least
when the density is in proportion to the square root of g, or of zeta.
"""

from .fixed import decelerate as decelerate
from .fixed import linear as linear
from .fixed import sm08 as sm08
from .pilots import friction as friction
from .pilots import friction_coefficient as friction_coefficient
from .pilots import predicted_variance as predicted_variance
from .pilots import slope_variance as slope_variance
from .pilots import varopt as varopt
