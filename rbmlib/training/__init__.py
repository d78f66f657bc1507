"""Training of RBMs, and tracking of log Z during training."""

from .loop import TrainingResult as TrainingResult
from .tracking import LogZTracker as LogZTracker
from .train import train as train
