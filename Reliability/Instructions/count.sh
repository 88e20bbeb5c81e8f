#!/bin/sh
# Counts the instructions of single operations by callgrind, in a release build, and compares them with bars.txt.
#
#   Reliability/Instructions/count.sh [SWIFT [BUILD FLAG...]]    OPERATIONS: count only these
#
# An operation's count is the difference of two runs, with N and 2N operations, over N: starting, loading and ending
# drop out. The table's seed is always the same; another one moves a count by some per cent. Swift's own dictionaries
# and sets have a seed of the process, which moved dictionary-walk by eight per cent: the environment fixes it.
# Exit status: 0; 1 if a count is above its bar; 2 if something failed.
set -eu
export SHAREDTABLE_RELIABILITY=1 # in the manifest: Reliability/
export SWIFT_DETERMINISTIC_HASHING=1
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
swift=${1:-swift}
[ $# -eq 0 ] || shift

scripts/setup.sh binutils valgrind
$swift build -c release --product count-instructions "$@" </dev/null

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Valgrind gives up at debug information newer than itself.
strip -o "$work/program" "$($swift build -c release "$@" --show-bin-path)/count-instructions"

# instructions OPERATION TIMES: of one run
instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/program" "$1" "$2" </dev/null >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 2; }
  sed -n 's/^.*Collected : //p' "$work/log"
}

# count OPERATION TIMES: instructions of one operation
count() {
  once=$(instructions "$1" "$2")
  twice=$(instructions "$1" $((2 * $2)))
  echo $(((twice - once + $2 / 2) / $2))
}

"$work/program" --list >"$work/operations"
status=0
printf '%-26s %12s %8s\n' operation instructions bar
while read -r operation times; do
  case " ${OPERATIONS:-$operation} " in *" $operation "*) ;; *) continue ;; esac
  bar=$(awk -v name="$operation" '$1 == name { print $2 }' "$here/bars.txt")
  [ -n "$bar" ] || { echo "counts: bars.txt has no bar for $operation" >&2; exit 2; }
  count=$(count "$operation" "$times")
  note=
  [ "$count" -le "$bar" ] || { note='above its bar'; status=1; }
  printf '%-26s %12s %8s  %s\n' "$operation" "$count" "$bar" "$note"
done <"$work/operations"
exit $status
