# Everything runs in .venv, made on first use. `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo test lint docs bench bench-peers clean

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("rulegrove needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	@echo "Setting up $(VENV) (once, a minute or two) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PIP) install --editable '.[dev]'
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed
	@PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PIP) install --editable '.[bench]'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	@PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PIP) install --editable '.[docs]'
	@touch $@

demo: $(VENV)/installed
	@$(BIN)/python examples/demo.py

# The compiled kernels are tested twice: as users run them, and as plain Python, where a bad index is an error. To gather
# all tests as plain Python would take longer than to run these.
KERNEL_TESTS = $(shell grep -rl --include='*.py' 'mark\.kernel' tests)
test: $(VENV)/installed
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m kernel -n 2 $(KERNEL_TESTS)
	$(BIN)/python -m pytest -q -n 2

lint: $(VENV)/installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in build/site. The tutorials are run once, and again where they or the site's folder have changed.
docs: $(VENV)/installed-docs
	$(BIN)/python -m sphinx -q -W --keep-going -j 2 -b html docs build/site
	$(BIN)/python tools/check_links.py build/site

bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.speed

# The peers live in an environment of their own, pinned, so that they never touch ours.
$(PEERS)/installed: benchmarks/peers.txt
	@echo "Setting up $(PEERS) (once, a few minutes) ..."
	@test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip --quiet --disable-pip-version-check install --requirement benchmarks/peers.txt
	@touch $@

# Goes on where it was stopped; hours in all. Then the page docs/benchmarks.md is written anew.
bench-peers: $(VENV)/installed $(PEERS)/installed
	$(BIN)/python -m benchmarks.run --peers $(PEERS)/bin/python
	$(BIN)/python -m benchmarks.kernels --csv benchmarks/results/kernels.csv
	$(BIN)/python -m benchmarks.report

clean:
	rm -rf $(VENV) $(PEERS) build docs/api docs/tutorials .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
