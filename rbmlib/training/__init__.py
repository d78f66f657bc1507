"""Training: one loop of batches, momentum and looks; log Z tracked on the way."""
