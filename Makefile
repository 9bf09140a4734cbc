# `make demo` and `make test` need nothing but Python 3.11+ and the package index: each sets up .venv first.
.DEFAULT_GOAL := help
.PHONY: help demo test quick mutants check fix docs site bench compare-kore conformance claude-code live sweeps postgres torture lowest lock audit encrypted clean

PYTHON ?= python3
BIN := .venv/bin
RUN := $(BIN)/python -m
READY := .venv/.ready
DOCUMENTS := README.md $(wildcard docs/*.md)

# Hundreds of tests start a process, and each would compile kinmem again.
unexport PYTHONDONTWRITEBYTECODE

# A virtual environment does not survive being moved: its scripts name the folder it was made in.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
$(shell rm -f $(READY))
endif

help: ## Show these lines
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

demo: $(READY) ## See what kinmem does: two Kins remember, recall, correct, forget and share
	@$(BIN)/kinmem demo

# One more than there are cores: many tests wait for other processes. A worker is given tests that
# stand beside each other, so that what a module shares is made once.
WORKERS = $$(($$($(BIN)/python -c 'import os; print(os.cpu_count() or 1)') + 1))

test: $(READY) ## Check everything: format, lint, types, imports, generated docs, tests
	@$(MAKE) --no-print-directory --jobs 2 --keep-going tests $(CHECKS)

# Beside the checks: types take a core for as long as the tests need to begin, and tests that wait
# leave one free.
.PHONY: tests
tests: $(READY)
	@$(RUN) pytest -q -n $(WORKERS) --dist worksteal

quick: $(READY) ## Everything important once, in under a minute: what to run before each commit
	@$(RUN) pytest -q -n auto $$($(RUN) tests.quick)

SAMPLE ?= 60
SEED ?= 0
mutants: $(READY) ## Change the core at 60 random places (SAMPLE=, SEED=): do the tests notice?
	@$(RUN) pip install -qq --group mutants
	@$(RUN) scripts.mutants --sample $(SAMPLE) --seed $(SEED)

# mypy takes longer than all others together, on one core.
CHECKS = check-types check-format check-lint check-imports check-pages
.PHONY: $(CHECKS)
check: $(READY) ## All of that but the tests
	@$(MAKE) --no-print-directory --jobs 2 --keep-going $(CHECKS)

$(CHECKS): $(READY)

check-types:
	@$(RUN) mypy

check-format:
	@$(RUN) ruff format --check .

check-lint:
	@$(RUN) ruff check .

check-imports:
	@$(BIN)/lint-imports --no-logo

check-pages:
	@$(RUN) cogapp --check -P $(DOCUMENTS)

fix: $(READY) ## Format, and repair what lint can repair
	@$(RUN) ruff check --fix .
	@$(RUN) ruff format .

docs: $(READY) ## Write the generated parts of the documents again
	@$(RUN) cogapp -r -P $(DOCUMENTS)

site: $(READY) ## Build the documents as a web site, build/site/index.html; a dead link is an error
	@$(RUN) pip install -qq --group docs
	@NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict --quiet

bench: $(READY) ## Measure retrieval, learning, latency, throughput, cold start and the size of the tool list
	@$(RUN) benchmarks

compare-kore: $(READY) ## Measure kinmem and Kore in one run; installs Kore for it and takes it away again
	@$(RUN) benchmarks kore

conformance: $(READY) ## Run the MCP conformance suite and the Inspector (needs npm)
	@tests/conformance/run

claude-code: $(READY) ## Let the real Claude Code remember, with a double of its model (needs npm)
	@$(RUN) tests.clients.claude_code

live: $(READY) ## Ask real providers; needs their keys in the environment
	@$(RUN) pytest -q -m live
	@$(BIN)/python scripts/evaluate_prompts.py

sweeps: $(READY) ## Run the suite with its sweeps at their whole length: every kill, fault and day
	@KINMEM_SWEEPS=whole $(RUN) pytest -q -n auto --dist worksteal --timeout 3600

postgres: $(READY) ## Ask PostgreSQL everything that a store promises, and tools, learning, the night and undo; KINMEM_TEST_POSTGRES names another server
	@KINMEM_SWEEPS=whole $(RUN) pytest -q -n auto tests/store/test_postgres.py
	@KINMEM_TEST_STORE=postgres $(RUN) pytest -q -n auto tests/test_tools.py tests/test_undo.py \
		tests/learn/test_from_turns.py tests/learn/test_memorize.py tests/upkeep/test_cycle.py

KILLS ?= 10000
CUTS ?= 5000
SOAK ?= 1800
torture: $(READY) ## Kill writers (KILLS=10000), cut the power (CUTS=5000), and work on for SOAK=1800 seconds
	@$(RUN) tests.torture --kills $(KILLS) --cuts $(CUTS) --soak $(SOAK)

lowest: $(READY) ## Run the fast tests with the lowest versions that pyproject.toml allows
	@$(RUN) pip install -qq uv
	@$(BIN)/uv venv -q --clear .lowest --python $(BIN)/python
	@$(BIN)/uv pip install -q --python .lowest/bin/python --resolution lowest-direct --editable . --group dev
	@.lowest/bin/python -m pytest -q -n auto -m 'not slow and not live' $(TESTS)

lock: ## Write requirements-dev.lock anew: the latest versions that pyproject.toml allows, with hashes
	@$(BIN)/python -m pip install -qq uv
	@$(BIN)/uv pip compile -q --upgrade pyproject.toml --group dev --extra encrypted-backups --universal \
		--generate-hashes --no-emit-index-url --no-annotate --no-header -o requirements-dev.lock

audit: $(READY) ## Look up known vulnerabilities of what is locked; needs the network
	@$(RUN) pip install -qq pip-audit
	@$(RUN) scripts.audit

encrypted: $(READY) ## Run the tests of the store and of backups with encrypted files
	@$(RUN) pip install -qq uv
	@$(BIN)/uv venv -q --clear .encrypted --python $(BIN)/python
	@$(BIN)/uv pip install -q --python .encrypted/bin/python --editable '.[encrypted]' --group dev
	@$(BIN)/uv pip install -q --python .encrypted/bin/python --reinstall --no-deps apsw-sqlite3mc
	@TESTS_ENCRYPTED=1 .encrypted/bin/python -m pytest -q -n auto -m 'not slow and not live' \
		--ignore tests/store/test_damage.py $(or $(TESTS),tests/test_encryption.py tests/store tests/backup)

clean: ## Take away what make has set up
	rm -rf .venv .lowest .encrypted .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist

# Set up, or set up again when the dependencies may have changed. Of 134 MB of sources, most of them
# litellm's, little is ever imported: Python compiles that when it is.
$(READY): pyproject.toml requirements-dev.lock
	@set -e; \
	new_enough() { "$$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }; \
	for python in '$(PYTHON)' python3.13 python3.12 python3.11 none; do \
		if new_enough "$$python"; then break; fi; \
	done; \
	if [ $$python = none ]; then \
		echo 'kinmem needs Python 3.11 or newer; name yours: make $(MAKECMDGOALS) PYTHON=/path/to/python3' >&2; exit 1; \
	fi; \
	echo "Setting up .venv with $$("$$python" --version), once ..."; \
	if ! new_enough .venv/bin/python; then rm -rf .venv; fi; \
	if ! "$$python" -m venv .venv; then \
		rm -rf .venv; echo 'Python lacks its venv module; on Debian and Ubuntu: apt-get install python3-venv' >&2; exit 1; \
	fi; \
	$(RUN) pip install -qq 'pip>=25.1'; \
	$(RUN) pip install -qq --no-compile --require-hashes -r requirements-dev.lock; \
	$(RUN) pip install -qq --no-deps --no-build-isolation --editable .; \
	echo '$(CURDIR)' > $@
