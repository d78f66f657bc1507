"""Training: one loop of batches, momentum and looks; log Z tracked on the way."""

from .bernoulli import train as train
from .gaussian import train_gaussian as train_gaussian
from .kept import Checkpoints as Checkpoints
from .loop import TrainingResult as TrainingResult
from .tracking import LogZTracker as LogZTracker
