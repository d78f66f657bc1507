"""The library built step by step: AIS, RTS, MBAR and SAMS, in the order of the notebook."""

from __future__ import annotations

from . import annealing, ladders, mixtures, scores
from .checker import task

STEPS = [
    scores.sigmoid, scores.log_mean_exp, scores.score, scores.log_z,
    annealing.path_score, annealing.log_z_base, annealing.sample_base, annealing.hidden_mean,
    annealing.visible_mean, annealing.sweep, annealing.increment, annealing.ais, annealing.ess,
    annealing.std_error, annealing.reverse_ais, annealing.bracket, annealing.z_score,
    ladders.slope, ladders.beta_probabilities, ladders.draw, ladders.temper, ladders.counted,
    ladders.averaged, ladders.corrected, ladders.rts_error, ladders.round_trips,
    mixtures.log_terms, mixtures.mixture, mixtures.mbar_step, mixtures.mbar, mixtures.gains,
    mixtures.update, mixtures.sams, mixtures.groups, mixtures.library,
]  # fmt: skip

for _judge in STEPS:
    task("step", 1, lesson="line")(_judge)
