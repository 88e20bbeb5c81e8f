# `make` lists the targets. Nothing here asks a question or reads stdin.
#
# SCRATCH=<dir> moves SwiftPM's build directory, JOBS=<n> bounds its jobs.

SWIFT ?= swift
SCRATCH ?= .build
JOBS ?=
override FLAGS := --scratch-path $(SCRATCH) $(if $(JOBS),-j $(JOBS))
CROSS_CC ?= aarch64-linux-gnu-gcc
SOURCES := Package.swift Sources Tests Examples Reliability Benchmarks/Package.swift Benchmarks/Sources

# What of Reliability/ is built is in the manifest only if the environment asks for it.
RELIABILITY_SWIFT = SHAREDTABLE_RELIABILITY=1 $(SWIFT)

MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help
.NOTPARALLEL:

# A crashing Swift process would start swift-backtrace, which inherits the pipe and can hang whoever reads it.
export SWIFT_BACKTRACE := enable=no

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install the Debian packages that building, testing and the demo need
	@scripts/setup.sh

build: ## debug build of everything
	$(SWIFT) build $(FLAGS)

release: ## release build of everything
	$(SWIFT) build -c release $(FLAGS)

demo: setup ## show the table at work: readers go on while a writer is killed; under two minutes once built
	@scripts/demo.sh '$(SWIFT)' $(FLAGS)

# Each phase prints its name and how long it took; the first that fails ends the run.
TEST_PHASES := setup build lint tidy unit docs runtime-calls growth models cross torture-bounded fuzz-bounded sanitize
test: ## everything that must hold: build, lint, tidy, tests, models, cross compilation
	@set -e; for phase in $(TEST_PHASES); do \
	  echo "== $$phase"; begin=$$(date +%s); \
	  $(MAKE) --no-print-directory $$phase </dev/null || { echo "== $$phase: FAILED"; exit 1; }; \
	  echo "== $$phase: ok, $$(($$(date +%s) - begin)) s"; \
	done; echo "== all passed"

lint: ## check the formatting
	$(SWIFT) format lint --strict -r $(SOURCES)

tidy: ## check the floor plan's import directions and the house rules
	@scripts/tidy.sh && scripts/tidy-test.sh

unit: ## unit and conformance tests
	$(SWIFT) test $(FLAGS)

runtime-calls: ## fail if a release build's get calls into Swift's runtime
	@scripts/no-runtime-calls.sh '$(SWIFT)' $(FLAGS)

counts: ## count the instructions of single operations; none may take more than its bar (OPERATIONS="set remove")
	@OPERATIONS='$(OPERATIONS)' Reliability/Instructions/count.sh '$(SWIFT)' $(FLAGS)

floor: ## measure get against the same lookup without any synchronisation
	$(RELIABILITY_SWIFT) build -c release --product get-floor $(FLAGS)
	$$($(SWIFT) build -c release $(FLAGS) --show-bin-path)/get-floor

bench: ## measure beside LMDB, Redis, memcached, rculfhash, rte_hash, Boost and GCD (CONTESTS="get-10k")
	@Benchmarks/run.sh '$(SWIFT)' '$(SCRATCH)' $(CONTESTS)

bench-check: ## fail if a ratio is worse than what Benchmarks/bars.txt says is held
	@Benchmarks/run.sh '$(SWIFT)' '$(SCRATCH)' --check --rounds 9 --no-peers get-10k get-1m get-10k-writer set-10k types

docs: ## build the documentation of the library (DocC), without warnings
	@scripts/docs.sh '$(SWIFT)' '$(SCRATCH)' $(FLAGS)

KEYS ?= 10000000
LENGTH ?= long
growth: ## load a growing table; the worst write's work must not grow with it (KEYS=10000000)
	$(RELIABILITY_SWIFT) build -c release --product growth-probe $(FLAGS)
	$$($(SWIFT) build -c release $(FLAGS) --show-bin-path)/growth-probe $(KEYS)

override TORTURE = $(RELIABILITY_SWIFT) build -c release --product torture $(FLAGS) && $$($(SWIFT) build -c release $(FLAGS) --show-bin-path)/torture
torture-bounded: ## a sample of what `make torture` does, for `make test` (ITEMS="images storm")
	$(TORTURE) $(ITEMS)

torture: setup ## kill, stop, damage and exhaust in every way there is; figures into RELIABILITY.md (hours; ITEMS=..., LENGTH=bounded)
	@LENGTH='$(LENGTH)' Reliability/Torture/run.sh '$(SWIFT)' '$(ITEMS)' $(FLAGS)

fuzz-bounded: ## fuzz what observers and openers look at, for a minute
	@Reliability/Fuzz/run.sh '$(SWIFT)' bounded $(FLAGS)

fuzz: setup ## the same for hours, and scribbling; figures into RELIABILITY.md
	@Reliability/Torture/run.sh '$(SWIFT)' fuzz $(FLAGS)

sanitize: ## thread and address sanitizer over the library's tests and the protocol's threads
	@scripts/sanitize.sh '$(SWIFT)' $(FLAGS)

models: ## check the protocol's models with Spin
	@Models/run.sh

mutants: ## plant known bugs and see the tests find each (slow)
	@Reliability/Mutants/run.sh

cross: ## compile the C shim for aarch64
	@scripts/cross.sh '$(CROSS_CC)'

container: ## observer and participant in a container of their own (root)
	@scripts/container.sh '$(SWIFT)' $(FLAGS)

clean: ## remove what was built
	rm -rf $(SCRATCH)

.PHONY: help setup build release demo test lint tidy unit docs runtime-calls counts floor bench bench-check growth torture torture-bounded fuzz fuzz-bounded sanitize models mutants cross container clean

-include systemd/install.mk
