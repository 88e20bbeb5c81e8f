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
# It builds, and emits graphs of all modules; of these, what the catalog is about. It fails for the modules of tests if those are
# not built: what counts is that the library's graphs are there, anew.
rm -rf "$scratch"/*/symbolgraph
$swift package "$@" dump-symbol-graph --minimum-access-level public --skip-synthesized-members >"$graphs/log" 2>&1 || true
cp "$scratch"/*/symbolgraph/SharedTable.symbols.json "$scratch"/*/symbolgraph/SharedTable@Swift.symbols.json "$graphs" ||
  { cat "$graphs/log" >&2; exit 1; }

# The catalog, with what is made of figures: where a page says <!-- Reliability/Instructions/costs.awk -->, that table.
catalog=$graphs/SharedTable.docc
instructions=Reliability/Instructions
cp -r Sources/SharedTable/SharedTable.docc "$catalog"
awk -f "$instructions/costs.awk" "$instructions/bars.txt" "$instructions/costs.txt" >"$graphs/costs"
grep -qx "<!-- $instructions/costs.awk -->" "$catalog/CostsAndWaits.md"
sed -i -e "\|^<!-- $instructions/costs.awk -->\$|{r $graphs/costs" -e 'd;}' "$catalog/CostsAndWaits.md"

docc=$(dirname "$(command -v "$swift")")/docc
[ -x "$docc" ] || docc=docc
archive=$scratch/SharedTable.doccarchive
"$docc" convert "$catalog" --additional-symbol-graph-dir "$graphs" --output-dir "$archive" \
  --fallback-display-name SharedTable --fallback-bundle-identifier SharedTable --warnings-as-errors \
  --experimental-documentation-coverage --coverage-summary-level detailed >"$graphs/coverage" ||
  { cat "$graphs/coverage" >&2; exit 1; }

# Every public symbol says what it is; conformances that the compiler writes cannot.
bare=$(awk -F '[[:space:]]*[|][[:space:]]*' '$3 == "false" && $2 !~ /^(Article|CollectionGroup)$/ && $1 !~ /^init\(rawValue:\)/ { print $NF }' \
  "$graphs/coverage")
[ -z "$bare" ] || { printf 'docs: says nothing: %s\n' $bare >&2; exit 1; }
echo "docs: $archive; to read it: $docc preview, or any web server"
