# `make help` lists the targets. The first one that needs Python packages installs them into .venv.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
PY := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed

# The first interpreter of a supported version; a name on PATH may be a shim that does not run.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$python -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& echo $$python && break; done)

# Tests and demos start many processes; each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

# Extra arguments for test and bench: make test ARGS="tests/ops -k matmul"
ARGS ?=

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(INSTALLED) ## train a digit classifier in a few seconds
	$(PY) -m penstock.examples.digits_demo

.PHONY: test
test: $(INSTALLED) ## run the tests in two processes (ARGS="…" goes to pytest)
	OMP_NUM_THREADS=1 $(PY) -m pytest -n 2 $(ARGS)

.PHONY: soak
soak: $(INSTALLED) ## kill tasks of clusters 600 times and run 100,000 steps (some minutes)
	OMP_NUM_THREADS=1 PENSTOCK_TEST_KILLS=200 PENSTOCK_TEST_SEED=$$(date +%j) PENSTOCK_TEST_STEPS=100000 \
		$(PY) -m pytest tests/cluster $(ARGS)

.PHONY: check
check: $(INSTALLED) ## lint, formatting and types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

.PHONY: format
format: $(INSTALLED) ## mend what ruff can mend
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

.PHONY: browser
browser: ## get Chromium with apt-get, for the test that opens TensorBoard
	bash tools/get_chromium.sh

.PHONY: bench
bench: $(INSTALLED) ## run the benchmarks (ARGS="…" goes to benchmarks.run)
	$(PY) -m benchmarks.run $(ARGS)

.PHONY: protos
protos: $(INSTALLED) ## compile penstock/proto/schemas/*.proto into schemas.binpb
	$(PY) tools/compile_schemas.py

.PHONY: docs
docs: $(INSTALLED) ## write docs/compatibility.md from the registry and the API
	$(PY) tools/compatibility.py

.PHONY: clean
clean: ## remove caches and build products (.venv stays)
	rm -rf build dist penstock.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find penstock tests tools benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(PY):
	@test -n "$(PYTHON)" || { echo "Penstock needs Python 3.10 to 3.13, and none was found on PATH." >&2; \
		echo "Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Creating $(VENV) with $$($(PYTHON) --version)."
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml constraints.txt | $(PY)
	@echo "Installing Penstock and the packages of constraints.txt into $(VENV)."
	@echo "PyTorch is the large one: the first time this takes minutes, later only when a pin changes."
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
