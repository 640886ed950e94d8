# Everything runs in .venv, made on first use. `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo test lint docs bench bench-peers package clean

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("rulegrove needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)

# What the demo needs: the program and nothing of its development.
$(VENV)/installed-demo: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Setting up $(VENV) (once, half a minute) ..."
	@PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PIP) install --no-compile --editable '.[cli]'
	@touch $@

$(VENV)/installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Setting up $(VENV) (once, a minute or two) ..."
	@PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/installed-demo

$(VENV)/installed-bench: $(VENV)/installed
	@PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PIP) install --editable '.[bench]'
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	@PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PIP) install --editable '.[docs]'
	@touch $@

demo: $(VENV)/installed-demo
	@$(BIN)/rulegrove demo --no-open

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

# What is published: the wheel is built from the sdist, installed where there is nothing else, and used.
PACKAGE := build/package
package: $(VENV)/installed
	@rm -rf dist $(PACKAGE)
	$(BIN)/python -m hatchling build --target sdist
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz
	@$(PYTHON) -m venv $(PACKAGE)
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(PACKAGE)/bin/python -m pip --quiet --disable-pip-version-check \
	  install --no-compile "$$(ls $(CURDIR)/dist/*.whl)[cli]"
	cd $(PACKAGE) && bin/rulegrove --version && bin/rulegrove datasets iris -o iris.csv && \
	  bin/rulegrove report $(CURDIR)/tests/reference/model-v2-two-classes.json -o report.html
	@ls -l dist

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

# FasterRisk's pins go with no other peer: for `python -m benchmarks.scorecards`.
.venv-fasterrisk/installed: benchmarks/fasterrisk.txt
	@test -x .venv-fasterrisk/bin/python || $(PYTHON) -m venv .venv-fasterrisk
	@.venv-fasterrisk/bin/python -m pip --quiet --disable-pip-version-check install --requirement benchmarks/fasterrisk.txt
	@touch $@

# Goes on where it was stopped; hours in all. Then the page docs/benchmarks.md is written anew.
bench-peers: $(VENV)/installed $(PEERS)/installed
	$(BIN)/python -m benchmarks.run --peers $(PEERS)/bin/python
	$(BIN)/python -m benchmarks.kernels --csv benchmarks/results/kernels.csv
	$(BIN)/python -m benchmarks.report

clean:
	rm -rf $(VENV) $(PEERS) .venv-fasterrisk build dist docs/api docs/tutorials .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
