"""log Z without a choice to make: bases, parts, rounds, checks and a verdict in words."""
