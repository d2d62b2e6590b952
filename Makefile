# Everything from a fresh machine with Python 3.11+, make and the package registries:
#   make demo    plays our own page and leaves a record and a GIF in runs/
#   make test    checks and tests
# Both set up what they need first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NODE_READY := node_modules/.ready
# Tests wait for browsers and servers more than they compute: more workers than a laptop has cores.
WORKERS ?= 5
ARGS ?=

.PHONY: demo test test-slow check check-scripts format clean browser kernels

demo: browser
	$(BIN)/bot2048 demo $(ARGS)

test: check browser kernels
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow" $(ARGS)

test-slow: browser
	$(BIN)/python -m pytest -m slow $(ARGS)

check: $(READY) check-scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@if command -v npm > /dev/null; then $(MAKE) -s $(NODE_READY) && npm run --silent format; fi

# The scripts that run inside pages: formatted, linted and type-checked by tools from npm. CI must have npm.
check-scripts:
	@if command -v npm > /dev/null; then $(MAKE) -s $(NODE_READY) && npm run --silent check; \
	elif [ -n "$$CI" ]; then echo "npm is missing: CI needs it to check the JavaScript"; exit 1; \
	else echo "npm is missing: the JavaScript is not checked"; fi

$(NODE_READY): package.json package-lock.json
	npm ci --silent
	@touch $@

# A browser that starts, found or installed.
browser: $(READY)
	@$(BIN)/bot2048 install-browser

# The engines' kernels compiled and their network unpacked before the tests, so that none has to wait for it.
kernels: $(READY)
	@echo order ntuple fast composite gradient | xargs -n 1 -P $(WORKERS) sh -c '\
	  $(BIN)/bot2048 hint --engine $$0 "2 2 / 4 8" > /dev/null 2>&1; \
	  $(BIN)/bot2048 hint --engine $$0 "2 2 4 8 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0" > /dev/null'

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'bot2048 needs Python 3.11 or newer: make PYTHON=python3.12 …'; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) node_modules .cache .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
