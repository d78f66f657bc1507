"""Simulated and parallel tempering: the states that RTS, TI, BAR and MBAR share.

Simulated tempering makes beta random: the joint law of a state x and an index k is

    q(x, k) ~ p*_k(x) r_k / Z_k,

with estimates Z_k of the partition functions and a prior r. A sweep of Gibbs sampling at beta_k
is followed by a draw of k given x (Carlson et al. 2016, eq. 7). Parallel tempering keeps one
replica at each beta and swaps neighbours, even and odd pairs in turn: the order that is not
reversible, in which replicas travel rather than diffuse (Okabe et al. 2001; Syed et al. 2022).

With ``conditional="joint"`` x is the pair (v, h). Its log-density is linear in beta on a
geometric path, ``log p*_beta(v, h) = log p*_0(v, h) + beta Delta(v, h)``: one number a state
serves all betas. With ``"marginal"`` the hidden units are summed over first: a little less noise
in k, for K times the work, on any path.
"""

from .parallel import parallel_tempering as parallel_tempering
from .sample import TemperedSample as TemperedSample
from .simulated import simulated_tempering as simulated_tempering
