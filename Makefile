# Needs Python 3.11 or newer and a package index: each goal installs into .venv what it needs, the first time.
PYTHON ?= python3
BIN    := .venv/bin
PIP    := $(BIN)/pip install -q --no-compile --disable-pip-version-check
NBVAL  := $(BIN)/pytest --nbval --nbval-current-env --nbval-sanitize-with tests/nbval_sanitize.cfg -n 2 --dist loadfile

.PHONY: setup book test lint refresh clean

setup: .venv/with-lab     ## the virtual environment, with JupyterLab

.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	@echo "Installing what the book needs into .venv: the first time, this takes minutes"
	$(PIP) -r requirements.txt
	touch $@

.venv/with-lab: .venv/installed requirements-lab.txt
	$(PIP) -r requirements-lab.txt
	touch $@

.venv/with-tests: .venv/installed requirements-test.txt requirements-cluster.txt
	$(PIP) -r requirements-test.txt -r requirements-cluster.txt
	touch $@

book: .venv/installed     ## build the book; RUN=paper or RUN=some/folder shows that run alone
	$(BIN)/python -m lib book $${RUN:+--run="$$RUN"}

lint: .venv/with-tests   ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint                ## everything that CI checks, the optional cluster included
	$(BIN)/pytest -n 2 -m "not browser"
	$(NBVAL) notebooks
	$(BIN)/python -m lib book
	$(BIN)/pytest -m browser

refresh: .venv/installed  ## execute the notebooks again and store their outputs
	$(BIN)/python -m lib.book.refresh

clean:                    ## remove what is built
	rm -rf _build book/_static/vega-book.js $(filter-out book/_static/,$(wildcard book/*/))
