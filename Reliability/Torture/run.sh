#!/bin/sh
# Runs every item of the torture program, and puts the figures into RELIABILITY.md.
#
# LENGTH=bounded: each item in its bounded form, instead of everything, which takes hours.
# Reliability/Torture/run.sh SWIFT 'ITEM...' [BUILD FLAG...]    no items: all of them; `models` is Models/run.sh --long
set -eu
export SHAREDTABLE_RELIABILITY=1 # in the manifest: Reliability/
cd "$(dirname "$0")/../.."
swift=$1
items=$2
shift 2

figures=$(mktemp -d)
trap 'rm -rf "$figures"' EXIT

case ${LENGTH:-long} in
  long) length=--long ;;
  bounded) length='' ;;
  *) echo 'torture: LENGTH is long or bounded' >&2 && exit 2 ;;
esac
status=0
others=$(printf '%s\n' $items | grep -vx models || true)
if [ "$others" != "" ] || [ "$items" = "" ]; then
  $swift build -c release --product torture "$@"
  torture=$($swift build -c release "$@" --show-bin-path)/torture
  case " $others" in
    ' ' | *' fuzz'*)
      SHAREDTABLE_FUZZER=$(Reliability/Fuzz/run.sh "$swift" build "$@")
      export SHAREDTABLE_FUZZER
      ;;
  esac
  # shellcheck disable=SC2086 # a list
  "$torture" $length --report "$figures" $others || status=$?
fi
case " $items " in
  "  " | *" models "*) Models/run.sh $length --report "$figures/04.md" || status=$? ;;
esac

# A chapter that was not run keeps the figures it had.
for chapter in "$figures"/*.md; do
  [ -e "$chapter" ] || continue
  mark="<!-- figures $(basename "$chapter" .md) -->"
  grep -qF "$mark" RELIABILITY.md || { echo "torture: RELIABILITY.md has no place $mark" >&2; exit 2; }
  awk -v mark="$mark" -v chapter="$chapter" '
    $0 == mark { print; while ((getline line < chapter) > 0) print line; skipping = 1; next }
    $0 == "<!-- end -->" { skipping = 0 }
    !skipping { print }' RELIABILITY.md >"$figures/new" && cp "$figures/new" RELIABILITY.md
done
exit $status
