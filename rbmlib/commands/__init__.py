"""The commands of the command line, one a file: each has a function `run` of its options."""
