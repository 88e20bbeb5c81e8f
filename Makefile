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

setup: ## install the Debian packages that building, `make test` and the demo need
	@scripts/setup.sh

setup-verify: ## install what `make verify` and `make torture` need besides
	@scripts/setup.sh --verify

build: ## debug build of everything
	$(SWIFT) build $(FLAGS)

release: ## release build of everything
	$(SWIFT) build -c release $(FLAGS)

demo: setup ## show the table at work: readers go on while a writer is killed; runs for some seconds, after a first build of minutes
	@scripts/demo.sh '$(SWIFT)' $(FLAGS)

# Each phase prints its name and how long it took; the first that fails ends the run.
define run-phases
@set -e; first=$$(date +%s); for phase in $(1); do \
  echo "== $$phase"; begin=$$(date +%s); \
  $(MAKE) --no-print-directory $$phase </dev/null || { echo "== $$phase: FAILED"; exit 1; }; \
  echo "== $$phase: ok, $$(($$(date +%s) - begin)) s"; \
done; echo "== all passed, $$(($$(date +%s) - first)) s"
endef

test: ## what every change must pass: build, lint, tidy, tests, a minute of torture
	$(call run-phases,setup build lint tidy unit torture-brief)

verify: ## the rest that must hold: documentation, counts, models, samples of torture, fuzzing and sanitizers
	$(call run-phases,setup-verify tidy-test docs runtime-calls counts growth room metrics terminal models-bounded cross resp-differential-sample soak-brief store-faults-bounded etcd-sample torture-bounded fuzz-bounded sanitize-bounded)

lint: ## check the formatting
	$(SWIFT) format lint --strict -r $(SOURCES)

tidy: ## check the floor plan's import directions and the house rules
	@scripts/tidy.sh

tidy-test: ## see each rule of tidy fail on a copy that breaks it
	@scripts/tidy-test.sh

# Four tests at a time. Without a bound all 700 begin at once on Swift's pool, which has a thread a processor: a test that
# blocks its thread then holds up hundreds that have begun, and their worker processes reach their time limits.
unit: export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 4
unit: ## unit and conformance tests
	scripts/swift-test.sh $(SWIFT) $(FLAGS)

metrics: ## test the product SharedTableMetrics, which a package gets by the trait Metrics
	SHAREDTABLE_METRICS=1 scripts/swift-test.sh $(SWIFT) --traits Metrics $(FLAGS) --scratch-path $(SCRATCH)-metrics

terminal: ## run shmctl's screens and interactive mode in a real terminal (tmux), and its completions in shells
	$(SWIFT) build --product shmctl $(FLAGS)
	@scripts/terminal-test.sh $$($(SWIFT) build $(FLAGS) --show-bin-path)/shmctl
	@scripts/shell-test.sh $$($(SWIFT) build $(FLAGS) --show-bin-path)/shmctl

store-faults: ## kill a store's keeper at every operation of its disk, fail it, cut the power: the whole of it (a few minutes)
	STORE_FAULTS=long scripts/swift-test.sh $(SWIFT) $(FLAGS) --filter TableStoreTests.FaultTests

store-faults-bounded: ## a sample of it, for `make verify`
	STORE_FAULTS=bounded scripts/swift-test.sh $(SWIFT) $(FLAGS) --filter TableStoreTests.FaultTests

store-probe: ## measure what storing costs, and how long a table takes to come back (STORES=/directory/on/the/disk)
	@scripts/setup.sh redis-server redis-tools
	$(RELIABILITY_SWIFT) build -c release --product store-probe $(FLAGS)
	$$($(SWIFT) build -c release $(FLAGS) --show-bin-path)/store-probe $(STORES)

# A folder of its own: with the trait more is fetched and built. Only the daemon, the command and these tests are in the manifest then.
ETCD_SWIFT_FLAGS = --scratch-path $(SCRATCH)-etcd --traits Etcd $(if $(JOBS),-j $(JOBS))
etcd-sample: ## build the daemon with the trait Etcd and have it mirror a real etcd of one member (builds gRPC: minutes)
	@scripts/setup.sh etcd-server etcd-client openssl
	SHAREDTABLE_ETCD=1 scripts/swift-test.sh $(SWIFT) $(ETCD_SWIFT_FLAGS)

etcd-test: etcd-sample ## the same, and three members in network namespaces that are killed and cut off (root; ROUNDS=1)
	@scripts/setup.sh iproute2 python3
	@scripts/etcd-cluster-test.sh $$(SHAREDTABLE_ETCD=1 $(SWIFT) build $(ETCD_SWIFT_FLAGS) --show-bin-path) $(ROUNDS)

override MIRROR_PROBE = scripts/setup.sh etcd-server python3 && SHAREDTABLE_ETCD=1 $(SWIFT) build -c release --product mirror-probe $(ETCD_SWIFT_FLAGS) && \
  python3 Reliability/Mirror/bench.py $(1) $$(SHAREDTABLE_ETCD=1 $(SWIFT) build -c release $(ETCD_SWIFT_FLAGS) --show-bin-path)/mirror-probe
mirror-bench: ## measure a mirrored table beside a client of etcd; fails beyond a bar (a quiet machine)
	@$(call MIRROR_PROBE,speed)

mirror-crowd: ## measure what 1, 10 and 100 mirrors cost etcd, and simulate how 10,000 hosts come back (HOSTS=10000)
	@$(call MIRROR_PROBE,crowd) $(or $(HOSTS),10000)

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

ctl-fuzz: ## random arguments, inputs, batches and dumps for shmctl, for some minutes (SHMCTL_FUZZ=3000, SHMCTL_SEED=...)
	SHMCTL_FUZZ=$(or $(SHMCTL_FUZZ),3000) scripts/swift-test.sh $(SWIFT) $(FLAGS) --filter ShmctlTests.FuzzTests

ctl-bench: ## measure shmctl beside mdb_dump and redis-cli; fails beyond a bar (ROUNDS=7 CONTESTS="get-one load")
	@scripts/setup.sh lmdb-utils redis-tools redis-server python3
	@$(MAKE) --no-print-directory $(RELEASE_DIR)/shmctl
	@Benchmarks/command.py $(RELEASE_DIR)/shmctl $(or $(ROUNDS),7) $(CONTESTS)

docs: ## build the documentation of the library (DocC), without warnings
	@scripts/docs.sh '$(SWIFT)' '$(SCRATCH)' $(FLAGS)

KEYS ?= 10000000
LENGTH ?= long
room: ## fill, empty and fill again: does the room of deleted values come back?
	$(RELIABILITY_SWIFT) build -c release --product room-probe $(FLAGS)
	$$($(SWIFT) build -c release $(FLAGS) --show-bin-path)/room-probe

writers: ## measure two writers beside one, and how many turns one waits for
	$(RELIABILITY_SWIFT) build -c release --product writers-probe $(FLAGS)
	$$($(SWIFT) build -c release $(FLAGS) --show-bin-path)/writers-probe

growth: ## load a growing table; the worst write's work must not grow with it (KEYS=10000000)
	$(RELIABILITY_SWIFT) build -c release --product growth-probe $(FLAGS)
	$$($(SWIFT) build -c release $(FLAGS) --show-bin-path)/growth-probe $(KEYS)

override TORTURE = $(RELIABILITY_SWIFT) build -c release --product torture $(FLAGS) && $$($(SWIFT) build -c release $(FLAGS) --show-bin-path)/torture
# One item of most chapters.
BRIEF_ITEMS := images.death-rcu history.rwlock storm.rcu recovery.repair-rwlock around.fork threads
torture-brief: ## a minute of what `make torture` does, for `make test`
	$(TORTURE) $(BRIEF_ITEMS)

# Of each chapter about half: most items in one of both variants, and not those that torture-brief has.
BOUNDED_ITEMS := images.tracer images.death-rwlock images.instructions-rcu images.put-rcu images.overwrite-rwlock \
  images.delete-rcu images.barrier-rwlock images.gc-rcu images.free-rcu images.split-rwlock images.node-rcu images.link-rwlock \
  images.growth-rcu images.compaction-rcu images.slack-rcu images.merge-rcu images.dissolve-rcu images.shrink-rcu images.recycle-rcu images.recycleAborted-rcu \
  images.deleteRecycling-rcu images.rings-rcu images.expiry-rwlock images.rollback-rcu \
  images.arrayInsertFront-rcu images.arrayInsertMiddle-rwlock images.arrayRemove-rcu images.arrayRemoveFirst-rwlock images.arrayAppend-rcu \
  images.arrayAppendFull-rwlock images.dictionarySet-rcu images.dictionaryOverwrite-rwlock images.dictionaryRemove-rcu \
  images.dictionaryRemoveWhere-rwlock images.setInsert-rcu images.cacheAdd-rwlock images.cacheEvict-rcu images.cacheRemove-rwlock \
  images.compute-rcu images.mutate-rwlock images.create-rcu images.repair-rcu images.repair-part-rcu images.repair-units-rcu images.drop-rwlock kills.read-rcu \
  kills.get-rwlock kills.barrier-rcu kills.register-rwlock kills.thread-exit-rcu kills.attach-rwlock kills.detach-rcu \
  kills.writer-awaited-rwlock kills.recovery-rcu recovery.time-rwlock recovery.repair-rcu history.rcu stalled.evict storm.crowded-rcu \
  stalled.refuse around
resp-differential: setup-verify ## random commands to the daemon beside a redis-server, in RESP2 and RESP3 (COMMANDS=100000, SEED=...)
	@$(SWIFT) build --product shmd $(FLAGS)
	@python3 Reliability/RESP/differential.py "$$($(SWIFT) build $(FLAGS) --show-bin-path)/shmd" $(or $(COMMANDS),100000) $(SEED)

# Each commit has a seed of its own: the same commit is judged by the same commands, wherever it is tried.
resp-differential-sample: ## of it those that this commit draws, for `make verify`
	@$(MAKE) --no-print-directory resp-differential SEED=$$((0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1)))

resp-throughput: setup-verify ## measure the daemon beside a redis-server, by redis-benchmark over Unix sockets (ROUNDS=5)
	@$(MAKE) --no-print-directory $(RELEASE_DIR)/shmd
	$(RELIABILITY_SWIFT) build -c release --scratch-path $(SCRATCH)/static --product resp-floor --static-swift-stdlib $(UNCHECKED)
	@Reliability/RESP/throughput.sh $(RELEASE_DIR)/shmd $(SCRATCH)/static/release/resp-floor $(ROUNDS)

override SOAK = $(SWIFT) build --product shmd $(FLAGS) && $(SWIFT) build --product shmctl $(FLAGS) && \
  python3 Reliability/Soak/soak.py $$($(SWIFT) build $(FLAGS) --show-bin-path)/shmd $$($(SWIFT) build $(FLAGS) --show-bin-path)/shmctl
soak: setup-verify ## clients, kills, reloads and full disks for ten minutes: memory, descriptors and threads stay flat (SECONDS=3600, SEED=...)
	$(SOAK) $(or $(SECONDS),600) $(SEED)

soak-brief: setup-verify ## half a minute of it, for `make verify`
	$(SOAK) 30

redis-suite: setup-verify ## Redis' own tests against the daemon (REDIS=/path/to/a/tree/of/redis-7.0)
	@[ -n "$(REDIS)" ] || { echo "make redis-suite: give a tree of Redis 7.0's sources: REDIS=/path" >&2; exit 64; }
	@scripts/setup.sh tcl
	$(SWIFT) build --product shmd $(FLAGS)
	@Reliability/RESP/redis-suite.sh "$$($(SWIFT) build $(FLAGS) --show-bin-path)/shmd" '$(REDIS)' $(UNITS)

redis-py-suite: setup-verify ## redis-py's own tests against the daemon (REDIS_PY=/path/to/a/tree/of/redis-py-4.6)
	@[ -n "$(REDIS_PY)" ] || { echo "make redis-py-suite: give a tree of redis-py 4.6's sources: REDIS_PY=/path" >&2; exit 64; }
	@scripts/setup.sh python3-pytest python3-pytest-asyncio python3-async-timeout
	$(SWIFT) build --product shmd $(FLAGS)
	@Reliability/RESP/redis-py-suite.sh "$$($(SWIFT) build $(FLAGS) --show-bin-path)/shmd" '$(REDIS_PY)' $(TESTS)

torture-bounded: ## a sample of what `make torture` does, for `make verify` (ITEMS="images storm")
	$(TORTURE) $(or $(ITEMS),$(BOUNDED_ITEMS))

torture: setup-verify ## kill, stop, damage and exhaust in every way there is; figures into RELIABILITY.md (hours; ITEMS=..., LENGTH=bounded)
	@LENGTH='$(LENGTH)' Reliability/Torture/run.sh '$(SWIFT)' '$(ITEMS)' $(FLAGS)

fuzz-bounded: ## fuzz what observers and openers look at, ten seconds each
	@Reliability/Fuzz/run.sh '$(SWIFT)' bounded $(FLAGS)

fuzz: setup ## the same for hours, and scribbling; figures into RELIABILITY.md
	@Reliability/Torture/run.sh '$(SWIFT)' fuzz $(FLAGS)

sanitize-bounded: ## the thread sanitizer over tests with threads, the address sanitizer over tests with raw memory
	@LENGTH=bounded scripts/sanitize.sh '$(SWIFT)' $(FLAGS)

sanitize: ## both sanitizers over all of the library's tests and the protocol's threads
	@LENGTH=long scripts/sanitize.sh '$(SWIFT)' $(FLAGS)

models-bounded: ## check a third of the cases of each model with Spin
	@Models/run.sh --bounded

models: setup-verify ## check all cases of the protocol's models with Spin
	@Models/run.sh

models-long: setup-verify ## the same and larger configurations, up to ten minutes each
	@Models/run.sh --long

mutants: ## plant known bugs and see the tests find each (slow; MUTANTS="UNDO_NOTHING")
	@Reliability/Mutants/run.sh $(MUTANTS)

mutants-sample: ## plant one known bug for each guarantee
	@Reliability/Mutants/run.sh --sample

cross: ## compile the C shim for aarch64
	@scripts/cross.sh '$(CROSS_CC)'

container: ## observer and participant in a container of their own (root)
	@scripts/container.sh '$(SWIFT)' $(FLAGS)

clean: ## remove what was built
	rm -rf $(SCRATCH) $(SCRATCH)-metrics $(SCRATCH)-etcd

# All that `make help` lists.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*##.*/\1/p' Makefile)

-include systemd/install.mk
