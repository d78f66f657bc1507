"""Training: one loop of batches, momentum and looks; log Z tracked on the way."""

from .bernoulli import TrainingResult, train
from .gaussian import GaussianTrainingResult, train_gaussian
from .tracking import LogZTracker

__all__ = ["GaussianTrainingResult", "LogZTracker", "TrainingResult", "train", "train_gaussian"]
