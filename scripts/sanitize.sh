#!/bin/sh
# The library's tests, and the protocol's threads over one mapping, under the thread and the address sanitizer.
#
#   scripts/sanitize.sh SWIFT [FLAG OF SWIFT BUILD...]
#   SANITIZERS=thread scripts/sanitize.sh SWIFT           one of the two
#   LENGTH=bounded scripts/sanitize.sh SWIFT              tests with threads under one, with raw memory under the other
#
# Debug builds in directories of their own. SHM_OUTLINE moves the shim's plain accesses out of line, where the sanitizers
# see them; SHAREDTABLE_SANITIZE leaves the programs out. See RELIABILITY.md, chapter 10, for what is suppressed and why.
set -eu
cd "$(dirname "$0")/.."
swift=$1
shift

. scripts/flags.sh
split_flags "$@"

export SHAREDTABLE_SANITIZE=1 SWIFT_BACKTRACE=enable=no
# Four tests at a time, as in `make unit`: side by side all would begin at once, and a test that waits for a thread of Swift's pool would
# reach its time limit.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4}"
# What they report comes last, whichever process it is of: among the output of the tests it is hard to find.
reports=$(mktemp -d)
show_reports() {
  cat "$reports"/* 2>/dev/null || true
  rm -rf "$reports"
}
trap show_reports EXIT
# A race is reported only while the thread sanitizer remembers the first of the two accesses: hence the longest history.
# Tests that look at how a process was ended by a signal want the signal.
export TSAN_OPTIONS="log_path=$reports/thread:halt_on_error=0:history_size=7:exitcode=66:handle_segv=0:handle_sigbus=0"
export ASAN_OPTIONS="log_path=$reports/address:handle_segv=0:handle_sigbus=0:detect_leaks=1"
export LSAN_OPTIONS="suppressions=$PWD/Tests/Sanitize/leak.supp:print_suppressions=0"
# Random operations of several processes: what takes minutes in a sanitizer shows no more there than a few hundred.
operations=400
[ "${LENGTH:-long}" != bounded ] || operations=100
# The search for orders of locks that could deadlock takes one lock of the sanitizer's at each lock of ours, and more time the more
# locks there have been: the threads of the queues' tests then mostly wait for each other in it. It is left to the long run.
[ "${LENGTH:-long}" != bounded ] || TSAN_OPTIONS="$TSAN_OPTIONS:detect_deadlocks=0"
export MODEL_OPERATIONS="${MODEL_OPERATIONS:-$operations}"

for sanitizer in ${SANITIZERS:-thread address}; do
  # A sanitizer's allocator ends the process where malloc has nothing to give.
  apart='HitRateTests|MisuseTests|IndexTests|ObserverScanTests'
  # The thread sanitizer ends a child, forked from several threads, that starts one. Under it Swift's runtime takes a lock at
  # every use of a global: a child hangs in it when a thread of its parent held it at the fork.
  [ "$sanitizer" != thread ] || apart="$apart|aForkedChildWatchesByAThreadOfItsOwn|aChildForkedBesideThreadsLetsGo"
  # Random fills by one thread, in which there is no race to find.
  [ "$sanitizer" != thread ] || apart="$apart|SplitInPlaceTests"
  # shellcheck disable=SC2086 # lists
  set -- --sanitize="$sanitizer" -Xcc -DSHM_OUTLINE=1 --scratch-path "$scratch/$sanitizer" $rest
  echo "-- $sanitizer: build"
  $swift build --build-tests "$@" </dev/null
  if [ "${LENGTH:-long}" = bounded ]; then
    side_by_side='SharedMemoryTests|TableEngineTests|QueueTests'
    [ "$sanitizer" = thread ] || side_by_side='SharedMemoryTests|TableEngineTests|CrashTests|ConformanceTests'
    alone=
  else
    side_by_side='SharedTableTests|SharedMemoryTests|TableEngineTests|CrashTests|ConformanceTests|QueueTests|CollectionTests'
    alone='AccessTests|CacheTests|EventTests'
  fi
  echo "-- $sanitizer: tests"
  # HeldTurnTests has a hundred threads wait for one table: minutes with a sanitizer. CrowdTests tries the same pool.
  scripts/swift-test.sh $swift --skip-build "$@" --filter "$side_by_side" --skip "$apart|CommitWaitTests|HeldTurnTests" </dev/null
  # These wait for each other; side by side, on few processors, they outlast their own patience.
  echo "-- $sanitizer: tests, one after the other"
  scripts/swift-test.sh $swift --skip-build "$@" --no-parallel --filter "CommitWaitTests${alone:+|$alone}" --skip "$apart" </dev/null
  echo "-- $sanitizer: threads"
  "$($swift build "$@" --show-bin-path)/torture" --seed 1 threads </dev/null
  # Also of processes whose end nobody looked at.
  [ -z "$(ls "$reports")" ]
done
