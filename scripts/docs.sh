#!/bin/sh
# Builds the documentation of the library, without warnings, by the toolchain's own docc.
#
#   scripts/docs.sh SWIFT SCRATCH [BUILD FLAG...]    the archive: SCRATCH/SharedTable.doccarchive
set -eu
cd "$(dirname "$0")/.."
swift=$1
scratch=$2
shift 2

graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
tools=$(dirname "$(command -v "$swift")")
tool() { if [ -x "$tools/$1" ]; then echo "$tools/$1"; else echo "$1"; fi; }

# Of the module as built, and of nothing else: `swift package dump-symbol-graph` builds every module anew, tests too, which takes minutes.
$swift build "$@" --target SharedTable >"$graphs/log" 2>&1 || { cat "$graphs/log" >&2; exit 1; }
built=$($swift build "$@" --show-bin-path)
target=$($swift -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",$/\1/p')
"$(tool swift-symbolgraph-extract)" -module-name SharedTable -target "$target" -I "$built/Modules" \
  -Xcc "-fmodule-map-file=$built/CShims.build/module.modulemap" -Xcc -D_GNU_SOURCE \
  -minimum-access-level public -skip-synthesized-members -output-dir "$graphs"

# The catalog, with what is made of figures: where a page says <!-- Reliability/Instructions/costs.awk -->, that table.
catalog=$graphs/SharedTable.docc
instructions=Reliability/Instructions
cp -r Sources/SharedTable/SharedTable.docc "$catalog"
awk -f "$instructions/costs.awk" "$instructions/bars.txt" "$instructions/costs.txt" >"$graphs/costs"
grep -qx "<!-- $instructions/costs.awk -->" "$catalog/CostsAndWaits.md"
sed -i -e "\|^<!-- $instructions/costs.awk -->\$|{r $graphs/costs" -e 'd;}' "$catalog/CostsAndWaits.md"

docc=$(tool docc)
archive=$scratch/SharedTable.doccarchive
"$docc" convert "$catalog" --additional-symbol-graph-dir "$graphs" --output-dir "$archive" \
  --fallback-display-name SharedTable --fallback-bundle-identifier SharedTable --warnings-as-errors \
  --experimental-documentation-coverage --coverage-summary-level detailed >"$graphs/coverage" ||
  { cat "$graphs/coverage" >&2; exit 1; }

# Every public symbol says what it is; conformances that the compiler writes cannot.
bare=$(awk -F '[[:space:]]*[|][[:space:]]*' '$3 == "false" && $2 !~ /^(Article|CollectionGroup)$/ && $1 !~ /^init\(rawValue:\)/ { print $NF }' \
  "$graphs/coverage")
[ -z "$bare" ] || { printf 'docs: says nothing: %s\n' $bare >&2; exit 1; }
echo "docs: $archive; to read it: python3 -m http.server 8000 -d $archive, then http://localhost:8000/documentation/sharedtable/"
