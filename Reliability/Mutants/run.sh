#!/bin/sh
# Plants each defect of edits/ into a copy of the tree, and runs the tests that caught-by.txt names for it.
#
# Reliability/Mutants/run.sh --sample     the first one of each guarantee that `swift test` catches
# Reliability/Mutants/run.sh [NAME...]    only these. SCRATCH moves the build directory, SWIFT names the compiler driver.
# Fails if a mutant survives, does not build, or names no test. Before that the tests must pass without any mutant.
set -u
mutants=$(cd "$(dirname "$0")" && pwd) || exit 2
cd "$mutants/../.." || exit 2
swift=${SWIFT:-swift}
mkdir -p "${SCRATCH:-.build}/mutants" || exit 2
scratch=$(cd "${SCRATCH:-.build}/mutants" && pwd)/build
copy=$scratch/../tree
log=$(mktemp) || exit 2
trap 'rm -rf "$log" "$log".*' EXIT
export SWIFT_BACKTRACE=enable=no

# The copy is what the tree is, committed or not; planted code may leave warnings, which are no errors there. Times are
# kept, so a build after a mutant compiles only what the mutant touched.
refresh() (
  mkdir -p "$copy"
  find "$copy" -mindepth 1 -delete
  cd "$mutants/../.." || exit 2
  git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --ignore-failed-read -cf - 2>/dev/null \
    | tar -xf - -C "$copy"
  sed -i -e '/^ *\.treatAllWarnings(as: \.error),$/d' -e 's/, \.treatAllWarnings(as: \.error)//' "$copy/Package.swift"
  touch -r Package.swift "$copy/Package.swift"
)

# Tests are named by a regular expression; torture:ITEM names an item of the torture program, built for release,
# thread:ITEM and address:ITEM the same in a sanitizer's build, fuzz:TARGET a target of the fuzzer.
build() {
  case $1 in
    fuzz:*) SHAREDTABLE_FUZZ=1 $swift build -c release --product fuzz --scratch-path "$scratch/fuzz" ;;
    thread:* | address:*)
      SHAREDTABLE_SANITIZE=1 $swift build --product torture --sanitize="${1%%:*}" -Xcc -DSHM_OUTLINE=1 \
        --scratch-path "$scratch/${1%%:*}"
      ;;
    torture:*) SHAREDTABLE_RELIABILITY=1 $swift build -c release --product torture --scratch-path "$scratch" ;;
    *) $swift build --build-tests --scratch-path "$scratch" ;;
  esac >"$log" 2>&1 </dev/null
}

# run TESTS: what they come to, in $log.
run() {
  # A mutant may hang as well as fail: both are caught.
  case $1 in
    fuzz:*)
      mkdir -p "$log.corpus"
      FUZZ_TARGET=${1#fuzz:} timeout 180 "$scratch/fuzz/release/fuzz" -max_total_time=60 -timeout=30 -max_len=130 -seed=1 \
        -artifact_prefix="$log." "$log.corpus" "Reliability/Fuzz/corpus/${1#fuzz:}"
      ;;
    thread:* | address:*)
      TSAN_OPTIONS=halt_on_error=1:history_size=7 timeout 300 "$scratch/${1%%:*}/debug/torture" --fail-fast --seed 1 "${1#*:}"
      ;;
    torture:*) timeout 300 "$scratch/release/torture" --fail-fast --seed 1 "${1#torture:}" ;;
    *) leaving_nothing timeout 180 $swift test --skip-build --scratch-path "$scratch" --filter "$1" ;;
  esac >"$log" 2>&1 </dev/null
}

# leaving_nothing COMMAND: in a session of its own, which is killed when the command has ended: the tests' own process is in another
# group than the `swift test` that `timeout` ends, and would go on hanging.
leaving_nothing() {
  setsid "$@" &
  leader=$!
  wait "$leader"
  status=$?
  pkill -KILL -s "$leader"
  return $status
}

# The tests must pass without any mutant.
sound() {
  if ! build "$1" || ! run "$1"; then
    grep -E 'error:|✘|broken:|failed:' "$log" | head -5
    echo "the tests fail without any mutant: $1" >&2
    exit 2
  fi
}
if [ "${1:-}" = --sample ]; then
  # shellcheck disable=SC2046 # a list
  set -- $(awk '!/^#/ && NF && $3 !~ /^[a-z]+:/ && !seen[$2]++ { print $1 }' "$mutants/caught-by.txt")
fi
chosen=$(awk -v names=" $* " '!/^#/ && NF && (names == "  " || index(names, " " $1 " "))' "$mutants/caught-by.txt")
refresh
cd "$copy" || exit 2
tests=$(echo "$chosen" | awk '$3 !~ /^[a-z]+:/ { printf "%s%s", separator, $3; separator = "|" }')
[ -z "$tests" ] || sound "$tests"
for item in $(echo "$chosen" | awk '$3 ~ /^[a-z]+:/ { print $3 }' | sort -u); do sound "$item"; done

total=0
survivors=
while read -r name guarantee tests; do
  [ -n "$name" ] || continue
  total=$((total + 1))
  printf '%-24s %-4s ' "$name" "$guarantee"
  refresh
  if ! "$mutants/apply.pl" plant . "$mutants/edits/$name" >"$log"; then
    cat "$log"
    survivors="$survivors $name"
    continue
  fi
  if ! build "$tests"; then
    echo 'does not build'
    grep -m 5 'error:' "$log"
    survivors="$survivors $name"
    continue
  fi
  run "$tests"
  status=$?
  if grep -q -e 'No matching test cases' -e 'there is no item' "$log"; then
    echo 'names no test'
    survivors="$survivors $name"
  elif [ $status -eq 0 ]; then
    echo 'SURVIVED'
    survivors="$survivors $name"
  elif [ $status -eq 124 ]; then
    echo 'caught (hung)'
  else
    echo "caught: $(grep -m 1 -oE '(Expectation failed|Caught error|unexpected signal code|broken:|failed:|(ERROR|WARNING): (libFuzzer|[A-Za-z]*Sanitizer):).*' "$log" | cut -c 1-90)"
  fi
done <<END
$chosen
END

if [ "$total" -eq 0 ]; then
  echo 'no such mutant' >&2
  exit 2
fi
if [ -n "$survivors" ]; then
  echo "survived:$survivors" >&2
  exit 1
fi
echo "all $total caught"
