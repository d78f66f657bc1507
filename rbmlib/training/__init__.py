"""Training: one loop of batches, momentum and looks; log Z tracked on the way."""

from .._public import declare as _declare
from .bernoulli import train as train
from .gaussian import train_gaussian as train_gaussian
from .loop import TrainingResult as TrainingResult
from .tracking import LogZTracker as LogZTracker

_declare(globals())
