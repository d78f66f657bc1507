"""Commands, one a file: `add_to` gives one to the command line, `run` does it."""
