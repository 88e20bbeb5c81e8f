#!/bin/bash
# `swift test`, which prints as it goes. Where it fails, the last lines say which tests failed and why: a log of thousands of lines
# is often kept only at its end.
#
#   scripts/swift-test.sh swift [arguments of swift test]
set -euo pipefail

swift=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT

status=0
"$swift" test "$@" 2>&1 | tee "$log" || status=$?
if [ "$status" != 0 ]; then
  echo "== what failed:"
  # An issue, and the lines that explain it.
  grep -a -E '^(✘|↳|error:)|: error:|Fatal error' "$log" | grep -a -v 'recorded a known issue' | cut -c 1-600 | tail -n 80 || true
fi
exit "$status"
