# make demo   set up and run the main job on sample data
# make test   set up, lint, type-check and test
# make docs   set up and build the documentation into build/site
# make bench  set up and measure everything; bench/results/REPORT.md
# make setup  only set up (.venv, dependencies, Java)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: setup demo test test-slow docs bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml scripts/ensure-java
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	scripts/ensure-java
	touch $(STAMP)

demo: setup
	$(BIN)/python -m everlog.demo

test: setup
	$(BIN)/ruff check src tests bench scripts
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -m "not slow" -n 2 --dist loadfile --timeout 300

test-slow: setup
	$(BIN)/pytest -m slow

docs: setup
	$(BIN)/mkdocs build --strict

bench: setup
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
