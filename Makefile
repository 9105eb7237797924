# `make book` and `make test` need Python 3.11 or newer and a package index: they make .venv and install into it.
PYTHON ?= python3
BIN    := .venv/bin
NBVAL  := $(BIN)/pytest --nbval --nbval-current-env --nbval-sanitize-with tests/nbval_sanitize.cfg -n 2 --dist loadfile

.PHONY: setup book test lint refresh clean

setup: .venv/installed    ## the virtual environment

.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	@echo "Installing about 160 packages into .venv: the first time, this takes minutes"
	$(BIN)/pip install -q -r requirements.txt
	touch $@

book: setup               ## build the book; RUN=paper or RUN=some/folder shows that run alone
	$(BIN)/python -m lib book $${RUN:+--run="$$RUN"}

lint: setup               ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint                ## everything that CI checks, the optional cluster included
	$(BIN)/pip install -q -r requirements-cluster.txt
	$(BIN)/pytest -m "not browser"
	$(NBVAL) notebooks
	$(BIN)/python -m lib book
	$(BIN)/pytest -m browser

refresh: setup            ## execute the notebooks again and store their outputs
	$(BIN)/python -m lib.book.refresh

clean:                    ## remove what is built
	rm -rf _build book/_static/vega-book.js $(filter-out book/_static/,$(wildcard book/*/))
