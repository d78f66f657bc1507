# Two commands matter: `make book` and `make test`. `make help` lists the rest.
PYTHON ?=
BIN    := .venv/bin
STAMP  := .venv/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup lock

# ---------------------------------------------------------------- set-up
FIND_PYTHON = for p in $(PYTHON) python3 python3.13 python3.12 python3.11 python; do \
    "$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1 && { echo "$$p"; break; }; done

setup: $(STAMP)  ## make .venv and install the locked requirements and rbmlib (editable)

$(BIN)/python:
	@python="$$($(FIND_PYTHON))"; \
	[ -n "$$python" ] || { echo "error: rbmlib needs Python 3.11, 3.12 or 3.13 and found none; try: make PYTHON=/path/to/python3.12" >&2; exit 1; }; \
	"$$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "error: $$python has no venv or ensurepip; on Debian and Ubuntu install the package python3-venv" >&2; exit 1; }; \
	echo "making .venv with $$("$$python" --version)"; \
	"$$python" -m venv .venv

$(STAMP): requirements.txt pyproject.toml | $(BIN)/python
	@echo "installing the locked requirements into .venv"
	@$(BIN)/python -m pip install -q --disable-pip-version-check 'uv>=0.5'
	@$(BIN)/uv pip install -q --python $(BIN)/python -r requirements.txt
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps -e .
	@touch $@

LOCK := uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --fork-strategy fewest --no-annotate --no-header
lock: | $(BIN)/python  ## rewrite requirements.txt from the ranges in pyproject.toml
	@$(BIN)/python -m pip install -q --disable-pip-version-check 'uv>=0.5'
	@$(BIN)/$(LOCK) -q -o requirements.txt

help:  ## print this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
