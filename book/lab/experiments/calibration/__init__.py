"""Chapter calibration: how often intervals hold log Z, and how often a verdict is wrong."""
