#!/bin/sh
# Fails if a release build's `get` into the caller's buffer calls into Swift's runtime: disassembles the function
# that holds nothing but that call (Reliability/Floor/get-floor/Probe.swift) and looks for swift_*. A second probe, which
# must call the runtime, shows that the search finds what it looks for.
#
#   scripts/no-runtime-calls.sh [swift] [flags of swift build]
set -eu
export SHAREDTABLE_RELIABILITY=1 # in the manifest: Reliability/
cd "$(dirname "$0")/.."

swift=${1:-swift}
[ $# -eq 0 ] || shift
"$swift" build -c release --product get-floor "$@"
binary=$("$swift" build -c release "$@" --show-bin-path)/get-floor

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
objdump -d --no-show-raw-insn "$binary" >"$work/all"

# The calls and tail calls of the function whose mangled name contains $1, by name.
calls() {
  awk -v name="$1" '/^[0-9a-f]+ <.*>:$/ { inside = index($0, name) > 0 } inside' "$work/all" >"$work/function"
  if ! [ -s "$work/function" ]; then
    echo "no-runtime-calls: $binary has no function $1" >&2
    exit 1
  fi
  # call, jmp (x86-64); bl, b (aarch64): to the start of another symbol, not into this one. Through a register: "*".
  sed -n -E -e 's/.*\s(call|jmp|bl|b)q? .*<([^+>]*)>$/\2/p' -e 's/.*\s(call|jmp)q? +\*.*/an indirect call/p' \
    -e 's/.*\s(blr|br) .*/an indirect call/p' "$work/function" | sort -u
}

calls 8probeGet >"$work/get"
echo "get calls:"
sed 's/^/  /' "$work/get"
if grep -q -E 'swift_|indirect' "$work/get"; then
  echo "no-runtime-calls: get calls into Swift's runtime, or where nobody can see" >&2
  exit 1
fi
calls 16probeCountingGet >"$work/counting"
if ! grep -q swift_ "$work/counting"; then
  echo "no-runtime-calls: the probe that must call the runtime does not: this test finds nothing" >&2
  exit 1
fi
echo "no-runtime-calls: none"
