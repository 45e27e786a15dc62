# Needs make and Python 3.11 or newer; everything else goes into .venv.

.DEFAULT_GOAL := help
.PHONY: help run test lint soak bench clean
.DELETE_ON_ERROR:

PYTHON ?= $(shell for name in python3.14 python3.13 python3.12 python3.11 python3; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
IN_VENV := .venv/bin/python
PIP := $(IN_VENV) -m pip install --quiet --disable-pip-version-check

help:
	@echo "make run     chat with the embedded default (without a terminal: a short demonstration)"
	@echo "make test    check and test everything"
	@echo "make lint    only the checks: ruff, mypy, import-linter"
	@echo "make soak    20,000 generated transcripts through compression; takes a while"
	@echo "make bench   what starting costs, many sessions at once, prompt caching"
	@echo "make clean   remove .venv and all caches"

run: .venv/installed
	@if [ -t 0 ] && [ -t 1 ]; then exec $(IN_VENV) -m girdlebook chat; else exec $(IN_VENV) -m girdlebook demo; fi

test: lint
	@$(IN_VENV) -m pytest -q

lint: .venv/installed-dev
	@$(IN_VENV) -m ruff check --quiet .
	@$(IN_VENV) -m ruff format --quiet --check .
	@$(IN_VENV) -m mypy --no-error-summary
	@.venv/bin/lint-imports --no-logo > .venv/imports.log || { cat .venv/imports.log; exit 1; }

soak: .venv/installed-dev
	@TRANSCRIPTS=20000 $(IN_VENV) -m pytest -q tests/unit/compression/test_validity.py

bench: .venv/installed
	@$(IN_VENV) -m benchmarks.startup
	@$(IN_VENV) -m benchmarks.async_sessions
	@$(IN_VENV) -m benchmarks.prompt_cache

clean:
	@rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: installing happens again only after pyproject.toml has changed.
.venv/installed: pyproject.toml | $(IN_VENV)
	@echo "installing girdlebook into .venv …"
	@$(PIP) --editable .
	@touch $@

.venv/installed-dev: pyproject.toml | $(IN_VENV)
	@echo "installing girdlebook and what its tests need into .venv …"
	@$(PIP) --editable '.[dev]'
	@$(PIP) --no-deps --upgrade --target .venv/hermes 'hermes-agent==0.19.0' # the importer's tests let it make a home
	@touch .venv/installed $@

$(IN_VENV):
	@test -n "$(PYTHON)" || { echo "girdlebook needs Python 3.11 or newer; set PYTHON=/path/to/it" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments;" \
		"on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@"$(PYTHON)" -m venv .venv || { rm -rf .venv; exit 1; }
