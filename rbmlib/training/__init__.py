"""Training of RBMs, and tracking of log Z during training."""
