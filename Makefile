# make demo   set up and run the main job on sample data
# make check  set up, lint, type-check and run the tests that need no Spark and at most a second each, random ones with
#             few examples
# make test   set up, lint, type-check and test
# make docs   set up and build the documentation into build/site
# make bench  set up and measure everything; bench/results/REPORT.md
# make setup  only set up (.venv, dependencies, Java)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

# Python keeps the compiled files also where the environment says otherwise: each of the processes that run tests would
# compile all tests, and each command that a test runs all of the package.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo lint check test test-slow docs bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml scripts/ensure-java
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	scripts/ensure-java
	touch $(STAMP)

demo: setup
	$(BIN)/python -m everlog.demo

# There is no Java here, so that a test which starts Spark and is not marked `spark` fails. The aim is 90 seconds on two
# cores with warm caches of Numba and mypy.
check: lint
	JAVA_HOME=/no-java EVERLOG_HYPOTHESIS=quick $(BIN)/pytest -m "not slow and not long and not spark" -n 2 --dist loadfile --timeout 300

lint: setup
	$(BIN)/ruff check src tests bench scripts
	$(BIN)/ruff format --check src tests bench scripts
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest -m "not slow" -n 2 --dist loadfile --timeout 300

test-slow: setup
	$(BIN)/pytest -m slow

docs: setup
	$(BIN)/mkdocs build --strict

bench: setup
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
