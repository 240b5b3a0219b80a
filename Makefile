# All commands of the project. Each target sets up what it needs.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# All distributions except the plugin, whose pyproject.toml is in the root.
DISTRIBUTIONS := $(patsubst %/pyproject.toml,%,$(wildcard provider/*/pyproject.toml)) sdk/python
PORT ?= 8095
QUIETLY := --quiet --disable-pip-version-check
# gRPC logs a line for each connection that a stopped plugin closes, which buries the failures of tests.
export GRPC_VERBOSITY = NONE
# Compiled modules are kept, also where the environment forbids it: tests start Python several hundred times.
export PYTHONDONTWRITEBYTECODE =
# One more than the cores of a small machine: tests with the CLI wait for its processes.
WORKERS ?= 3
PARALLEL = -n $(call quoted,WORKERS)
# A test that fails here and passes alone does not make the run fail; the run then ends with the heading UNSTEADY.
FAIRLY = $(PARALLEL) --rerun-alone
# The files that have tests with a mark, so that no worker loads all others for them.
marked = $(shell grep -rl --include='test_*.py' 'pytest\.mark\.$(1)' tests)
MOST_TESTS = $(FAIRLY) --maxschedchunk 4 -m "not languages and not backends"
# What a variable is set to, as one word of a command, or as one for each of its words; without any, a default. Neither
# make nor the shell interprets anything in it. So make must not hand it on in the environment, either.
quoted = '$(or $(subst ','\'',$(value $(1))),$(2))'
quoted_words = $(foreach one,$(value $(1)),'$(subst ','\'',$(one))')
unexport CLIENTS DOWNLOAD_URL ID_TOKEN LANGUAGE LOCK MINUTES OSLOGIN_USER PORT PROGRAMS PROJECT PYTHON SAMPLES SEED SHARD TAG WORKERS ZONE
# The order of tests and of sets follows from a number made of the commit's hash, or 0 without git, so that the result of
# a commit does not depend on when it is tried. `make shuffle SEED=...` tries another order.
STEADY = PYTHONHASHSEED=$(call quoted,SEED,$(COMMIT))
COMMIT = $(shell hash=$$(git rev-parse --verify --quiet HEAD 2> /dev/null || echo 0); echo $$((16#$${hash:0:8})))
RANDOM_ORDER = -p randomly --randomly-seed=$(call quoted,SEED,$(COMMIT))
# LANGUAGE may also be in the environment, where it names the languages of messages.
LANGUAGE_WORDS = $(if $(filter command,$(origin LANGUAGE)),$(call quoted_words,LANGUAGE))

# Lists the targets that have a mark, with their descriptions.
described = awk -F ':.*$(1) ' '/^[a-z-]+:.*$(1) / { gsub(/[$$][$$]/, "$$", $$2); printf "  \033[1m%-16s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: help more budgets demo emulator-record picture console-picture test test-backends test-clients test-languages test-samples coverage search lock matrix soak verify-google mutations shuffle repeat check lint types check-generated format permissions schema sdk setup env emulator bench docs docs-links build dist release-check clean

help: ## Show these targets
	@$(call described,##)

more: ## Show the other targets
	@$(call described,#:)

demo: setup ## Run a real `pulumi up` against the emulator, from an empty stack to an empty stack
	@$(BIN)/python tools/demo.py

ifdef COVERAGE
test: coverage
else
test: setup ## Run the tests, apart from test-languages and test-backends; COVERAGE=1: as `make coverage`
	$(STEADY) $(BIN)/python -m pytest $(MOST_TESTS)
endif

coverage: setup #: Run the tests of `make test` in an order that follows from the commit, and measure code coverage; SEED=...: another order
	@$(BIN)/coverage erase
	$(STEADY) $(BIN)/coverage run -m pytest $(MOST_TESTS) $(RANDOM_ORDER)
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

test-languages: setup #: Build a release, install it, and run the guides, the examples, and programs in every language
	$(STEADY) $(BIN)/python -m pytest $(call marked,languages) -m languages $(FAIRLY)

test-backends: setup #: Run stacks in PostgreSQL and in a bucket, many stacks side by side, and the console in Chromium; installs both if possible
	@$(BIN)/python tools/postgresql.py
	@$(BIN)/python tools/chromium.py
	$(STEADY) $(BIN)/python -m pytest $(call marked,backends) -m backends $(FAIRLY)

test-clients: $(READY) #: Run programs with clients of Google's APIs on the emulator, and write docs/emulator-clients.md; installs clients if possible; CLIENTS=...: only these
	PYTHONPATH=tests/support:tools $(BIN)/python -m records.client_runs $(call quoted_words,CLIENTS)
	PYTHONPATH=tools $(BIN)/python -m generate documents

test-samples: $(READY) #: Run Google's sample suites on the emulator, in the checkouts SAMPLES=..., and write docs/emulator-clients.md
	PYTHONPATH=tests/support:tools $(BIN)/python -m records.sample_suites $(call quoted_words,SAMPLES)
	PYTHONPATH=tools $(BIN)/python -m generate documents

search: $(READY) #: Try many new examples in the property-based tests, at most a minute each
	GCPX_SEARCH=60 $(BIN)/python -m pytest $(PARALLEL) -m search

matrix: $(READY) #: Run all cases of the generated matrices: faults, crashes, cancellation, secrets, wrong values and assumptions; SHARD=1/40 runs a part
	GCPX_MATRIX=$(call quoted,SHARD,1/1) $(BIN)/python -m pytest tests/reliability tests/reality -q $(PARALLEL)

soak: $(READY) #: Run random programs of two stacks, faults, cancellations and crashes for half an hour, or for MINUTES=...; PROGRAMS=...: so many programs; SEED=...
	PYTHONPATH=tests/support:tools $(BIN)/python tools/soak.py --minutes $(call quoted,MINUTES,30) --programs $(call quoted,PROGRAMS,0) --seed $(call quoted,SEED,0)

verify-google: $(READY) #: Compare Google with what gcpx assumes, in PROJECT=..., for a few cents; asks first; ZONE=..., OSLOGIN_USER=..., ID_TOKEN=...
	@OSLOGIN_USER=$(call quoted,OSLOGIN_USER) ID_TOKEN=$(call quoted,ID_TOKEN) PYTHONPATH=tests/support:tools $(BIN)/python -m verify_google --project $(call quoted,PROJECT) --zone $(call quoted,ZONE,us-east1-b)

mutations: $(READY) #: Make each mistake of tests/mutations.toml in a copy of the sources, and fail if its test does not find it
	PYTHONPATH=tools $(BIN)/python tools/mutations.py

shuffle: setup #: Run the tests of `make test` in an order that follows from the commit; SEED=...: in another one
	$(STEADY) $(BIN)/python -m pytest $(MOST_TESTS) $(RANDOM_ORDER)

repeat: setup #: Run the new and changed tests several times, in orders that follow from the commit; SEED=...: in others
	$(BIN)/python tools/repeat.py $(call quoted,SEED,$(COMMIT))

check: lint types check-generated test ## Run everything that must pass before a commit: lint, types, generated files, tests

lint: $(READY) #: Check style, without changing files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) #: Check types, those of the examples with mypy and pyright, and that both report the mistakes in tests/sdk/programs
	$(BIN)/mypy
	@$(BIN)/python tools/program_types.py

format: $(READY) ## Fix style where that can be done automatically
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

permissions: $(READY) #: Run every verb against the emulator, record which permissions it needs, and write docs/permissions.md
	PYTHONPATH=tests/support:tools $(BIN)/python -m records.verb_record
	PYTHONPATH=tools $(BIN)/python -m generate documents

budgets: $(READY) #: Count what a start, a Check and each verb take, and write that into tests/budgets.json
	GRPC_VERBOSITY=NONE PYTHONPATH=tests/support:tools $(BIN)/python -m records.budgets

emulator-record: $(READY) #: Observe what the emulator does with every field, and which clients it answers, and write docs/emulator-coverage.md
	PYTHONPATH=tests/support:tools $(BIN)/python -m records.field_record
	@mkdir -p build && rm -f build/libraries
	GCPX_RECORD=build/libraries $(BIN)/python -m pytest tests/emulator --ignore tests/emulator/test_field_record.py -q -n 2
	PYTHONPATH=tests/support:tools $(BIN)/python -m records.client_record build/libraries
	PYTHONPATH=tools $(BIN)/python -m generate documents

schema: $(READY) #: Write schema.json, value_types.pyi of each service, docs/reference, docs/permissions.md and the tables of README and docs from the declarations
	PYTHONPATH=tools $(BIN)/python -m generate documents

sdk: setup ## Generate the schema, the examples, the tables of the documents, and sdk/python; LANGUAGE=nodejs, go, dotnet or java: that SDK
	PYTHONPATH=tools $(BIN)/python -m generate sdk $(LANGUAGE_WORDS)

lock: setup #: Lock the packages that the set-up, CI and a release install, with their hashes; LOCK=--upgrade: their newest versions
	PYTHONPATH=tools $(BIN)/python tools/lock.py $(call quoted_words,LOCK)

check-generated: setup #: Fail if a generated file is out of date
	PYTHONPATH=tools $(BIN)/python -m generate check

setup: $(READY) ## Create .venv, and find or build the Pulumi CLI
	@$(BIN)/python tools/pulumi/setup.py > /dev/null

env: setup ## Print exports for `eval "$$(make -s env)"`, to run pulumi by hand; LANGUAGE=go, java or nodejs: also its programs
	@$(BIN)/python tools/environment.py $(LANGUAGE_WORDS)

emulator: $(READY) ## Run the emulator in the foreground, on port 8095 or PORT=...
	@$(BIN)/gcpx-emulator --port $(call quoted,PORT)

picture: setup #: Record the README's picture of `pulumi up` again: docs/images/up.svg
	@PYTHONPATH=tools $(BIN)/python -m picture docs/images/up.svg

console-picture: setup #: Draw the pictures of the emulator's console again: docs/images/console.png and console-roll.webp
	@PYTHONPATH=tools $(BIN)/python tools/console_picture.py docs/images/console.png docs/images/console-roll.webp

bench: setup ## Measure speed and memory, as ratios to a provider that does nothing
	@PYTHONPATH=tools $(BIN)/python benchmarks/bench.py

docs: $(READY) ## Build the documentation as a static site into build/docs, and check its links
	@PYTHONPATH=tools $(BIN)/python -m documentation build

docs-links: $(READY) #: Check that the links of the documentation to other sites work; needs the internet
	@PYTHONPATH=tools $(BIN)/python -m documentation links

build: $(READY) #: Build every wheel into dist
	@PYTHONPATH=tools $(BIN)/python -m release.build dist

dist: setup #: Build a release into dist: wheels, the plugin's archive for this machine, checksums; DOWNLOAD_URL=...
	@PYTHONPATH=tools $(BIN)/python -m release.dist dist $(call quoted,DOWNLOAD_URL)

release-check: setup #: Build a release into dist, and list everything that keeps it from being published; DOWNLOAD_URL=... TAG=...
	@PYTHONPATH=tools $(BIN)/python -m release.check dist $(call quoted,DOWNLOAD_URL) $(call quoted,TAG)

clean: #: Remove what was built here; the CLI stays in its cache
	rm -rf .venv build dist .work .coverage .mypy_cache .pytest_cache .ruff_cache

$(READY): tools/constraints.txt pyproject.toml $(DISTRIBUTIONS:%=%/pyproject.toml)
	@command -v $(call quoted,PYTHON) > /dev/null || { echo "make: "$(call quoted,PYTHON)" is missing; install Python 3.11 or later, or name one: make PYTHON=..." >&2; exit 1; }
	@$(call quoted,PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: "$(call quoted,PYTHON)" is $$($(call quoted,PYTHON) -V); Python 3.11 or later is needed: make PYTHON=..." >&2; exit 1; }
	@echo "Setting up .venv with the packages of tools/constraints.txt, which takes a minute or two ..." >&2
	@$(call quoted,PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install $(QUIETLY) --require-hashes --only-binary :all: -r tools/constraints.txt >&2
	@$(BIN)/python -m pip install $(QUIETLY) --no-index --no-deps --no-build-isolation -e . $(DISTRIBUTIONS:%=-e %) >&2
	@touch $@
