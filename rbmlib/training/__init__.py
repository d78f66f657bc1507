"""Training: one loop of batches, momentum and looks; log Z tracked on the way."""

from .loop import TrainingResult as TrainingResult
from .tracking import LogZTracker as LogZTracker
from .train import train as train
