#!/bin/sh
# The house rules that a compiler does not know. Prints every violation; exit status 1 if there is any.
#
#   scripts/tidy.sh [directory of a work tree]
#
# scripts/tidy-test.sh sees each rule fail.
set -eu
cd "${1:-$(dirname "$0")/..}"

violations=$(mktemp)
trap 'rm -f "$violations"' EXIT
violation() { echo "tidy: $1" >>"$violations"; }

# The floor plan: which of our own modules each may import, those of the floors below and, on floors 3 and 4, some of its own floor
# (CONTRIBUTING.md has the floors). A module that is not here has no place yet.
may_import() {
  case $1 in
    SharedMemory) echo CShims ;;
    TableEngine) echo CShims SharedMemory ;;
    SharedTable) echo CShims SharedMemory TableEngine ;;
    SharedTableFoundation | SharedTableObservation | SharedTableOperations) echo SharedTable ;;
    SharedTableTesting) echo SharedMemory SharedTable ;;
    ToolSupport) echo SharedMemory ;;
    TableMetrics) echo SharedTable ToolSupport ;;
    SharedTableMetrics) echo SharedTable TableMetrics ;;
    TableDump) echo CShims TableEngine SharedTable ToolSupport ;;
    CSQLite) ;;
    TableStore) echo CShims CSQLite SharedMemory TableEngine SharedTable ;;
    UpstreamWrites) ;;
    HostSockets) echo SharedMemory ;;
    RESPServer) echo HostSockets SharedMemory SharedTable ToolSupport UpstreamWrites ;;
    StatusServer) echo HostSockets ;;
    CLibYAML) ;;
    TableMirror) echo SharedMemory TableEngine SharedTable ToolSupport UpstreamWrites ;;
    EtcdMessages) ;;
    EtcdSource) echo EtcdMessages TableMirror ToolSupport UpstreamWrites ;;
    ShmdCore) echo CLibYAML SharedMemory TableEngine SharedTable TableMetrics TableMirror EtcdSource TableStore HostSockets RESPServer StatusServer ToolSupport UpstreamWrites ;;
    shmd) echo ShmdCore ;;
    shmctl) echo SharedMemory SharedTable TableDump TableMetrics TableMirror ToolSupport ;;
    shm-demo) echo SharedTable ;;
    *) return 1 ;;
  esac
}

# The modules that the Swift files of a directory import, in whatever form: a line each, FILE MODULE.
imports() {
  find "$1" -name '*.swift' -exec grep -HE '^ *(@[A-Za-z_]+(\([^)]*\))? +)*([a-z]+ +)?import ' {} + |
    sed -n -E 's/^([^:]*): *(@[A-Za-z_]+(\([^)]*\))? +)*((public|package|internal|fileprivate|private) +)?import +((struct|class|enum|protocol|typealias|func|let|var) +)?([A-Za-z0-9_]+).*/\1 \8/p'
}

own=" CShims"
for directory in Sources/*/; do own="$own $(basename "$directory")"; done

for directory in Sources/*/; do
  module=$(basename "$directory")
  if ! allowed=" $(may_import "$module") "; then
    violation "$directory: the module is not in the floor plan (scripts/tidy.sh, CONTRIBUTING.md)"
    continue
  fi
  imports "$directory" | while read -r file import; do
    case "$own " in *" $import "*)
      case $allowed in *" $import "*) ;; *) violation "$file: $module may not import $import" ;; esac ;;
    esac
    # Full Foundation costs every process that starts milliseconds, and the installed programs tens of MB. Who uses
    # operations has it.
    case $import:$module in
      Foundation:SharedTableOperations) ;;
      # Generated: only where there is no FoundationEssentials.
      Foundation:EtcdMessages) ;;
      Foundation:*) violation "$file: imports full Foundation; FoundationEssentials, or nothing, will do" ;;
    esac
  done
done

# The same between the folders of a module, where its design has a table of floors.
perl scripts/floors.pl . >"$violations.floors" || sed 's/^/tidy: /' "$violations.floors" >>"$violations"
rm -f "$violations.floors"

# C modules: what the shim includes is the system's, liburcu's, xxhash's or its own.
for file in CShims/*.c CShims/include/*.h; do
  for header in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$file"); do
    [ -e "CShims/include/$header" ] || violation "$file: includes $header, which is not the shim's own"
  done
done

# The format: each of its structs and constants is in the lists that the layout hash is computed from. (Of each field the
# compiler sees to that.)
format=CShims/include/shm_format
for struct in $(sed -n -E 's/^struct (shm_[a-z_]+) \{$/\1/p' "$format.h"); do
  grep -q "S($struct, " "${format}_offsets.h" || violation "$format.h: struct $struct is not in SHM_FORMAT_STRUCTS"
done
for constant in $(sed -n -E 's/^#define (SHM_[A-Z0-9_]+) .*/\1/p' "$format.h" "${format}_constants.h"); do
  violation "$format: $constant is not in a list of ${format}_constants.h"
done

for directory in CShims/ Sources/*/; do
  [ -s "${directory}DESIGN.md" ] || violation "$directory: no DESIGN.md beside the code"
done

for file in README.md CHANGELOG.md CONTRIBUTING.md LICENSE; do
  [ -s "$file" ] || violation "$file: is missing"
done

for file in $(git ls-files -- Package.resolved .build .build-etcd '*/Package.resolved' '*/.build'); do
  violation "$file: is tracked, and is no source"
done

# Files that git has and the tree has not are none: their errors go unread. Generated ones: scripts/etcd-protocol.sh.
git ls-files -z -- '*.swift' '*.c' '*.h' '*.sh' ':!*.pb.swift' ':!*.grpc.swift' | xargs -0 wc -l 2>/dev/null |
  awk '$2 != "total" && $1 > 500' | while read -r lines file; do
  violation "$file: $lines lines; past 500, look for a second idea"
done

# A test that cannot run here says so, with its reason, instead of passing.
grep -rnE '\.enabled\(if: [^"]*$|^ *guard let stranger else \{ return \}' --include='*.swift' Tests | cut -d: -f1,2 | while read -r place; do
  violation "$place: say why the test cannot run: .enabled(if: …, \"cannot run: …\")"
done

# A comment moves with its declaration: it does not begin with what the comment of a neighbour says.
find Sources -name '*.swift' -exec awk '
  { isComment = /^ *\/\/\// }
  FNR == 1 { inside = 0 }
  isComment && !inside && /^ *\/\/\/ The same/ { print FILENAME ":" FNR }
  { inside = isComment }' {} + | sort >"$violations.same"
while read -r place; do
  violation "$place: a comment that begins with \"The same\" is read without its neighbour; say what the declaration does"
done <"$violations.same"
rm -f "$violations.same"

# A label of a memory-order comment (PAIR or ORDER) is in the code, in a model and in Models/README.md's first table; or
# in the second (outside the models: in no model) or the third (ahead of the code: not in the code).
labels() { grep -rhoE '(PAIR|ORDER) [a-z][a-z-]*' "$@" | sort -u; }
rows() { sed -n "/^##* $1\$/,/^##* /p" Models/README.md | sed -n -E 's/^\| ((PAIR|ORDER) [a-z][a-z-]*) \|.*/\1/p'; }
code=$(labels --include='*.swift' --include='*.c' --include='*.h' Sources CShims)
modelled=$(labels --include='*.pml' Models)
checked=$(rows Labels)
outside=$(rows 'Outside the models')
ahead=$(rows 'Ahead of the code')
among() { if printf '%s\n' "$1" | grep -qxF "$label"; then echo "$2"; fi; }
labels_file=$(mktemp)
printf '%s\n' "$code" "$modelled" "$checked" "$outside" "$ahead" | grep . | sort -u >"$labels_file"
while read -r label; do
  found=$(among "$code" code; among "$modelled" models)
  listed=$(among "$checked" "code
models"; among "$outside" code; among "$ahead" models)
  [ "$found" = "$listed" ] || violation "$label: it is in $(echo ${found:-neither}), Models/README.md says $(echo ${listed:-nothing})"
done <"$labels_file"
rm -f "$labels_file"

# The other ends that labels name are there.
perl scripts/pair-labels.pl . >"$violations.pairs" || sed 's/^/tidy: /' "$violations.pairs" >>"$violations"
rm -f "$violations.pairs"

# Every planted defect has its place in the code, and tests that must catch it.
perl Reliability/Mutants/apply.pl check . Reliability/Mutants/edits/* >"$violations.edits" || sed 's/^/tidy: /' "$violations.edits" >>"$violations"
rm -f "$violations.edits"
awk '!/^#/ && NF { print $1 }' Reliability/Mutants/caught-by.txt | sort -u >"$violations.named"
for name in $(ls Reliability/Mutants/edits | sort -u | comm -3 - "$violations.named"); do
  violation "Reliability/Mutants: $name is not both in edits/ and in caught-by.txt"
done
rm -f "$violations.named"

# The tests that the documentation names are there.
gotchas=Sources/SharedTable/SharedTable.docc/Gotchas.md
for test in $(sed -n -E 's/.*\| `([A-Za-z]+\.[A-Za-z]+)` \|$/\1/p' "$gotchas"); do
  file=$(find Tests -name "${test%%.*}.swift")
  grep -q "func ${test#*.}(" ${file:-/dev/null} || violation "$gotchas: there is no test $test"
done

# What the documentation shows is compiled.
for pages in Sources/SharedTable/SharedTable.docc docs; do
  perl scripts/snippets.pl "$pages" Tests/DocumentationTests/Pages >"$violations.snippets" ||
    violation "scripts/snippets.pl: failed"
  sed 's/^/tidy: /' "$violations.snippets" >>"$violations"
done
rm -f "$violations.snippets"

# The README's programs (its Swift blocks that begin with an import) are compiled: they are these files, from their first
# import on.
example() {
  shown=$(awk -v wanted="$1" '/^```swift$/ { first = 1; next } /^```$/ { inside = 0; first = 0 }
    first { first = 0; if (/^import /) { count++; inside = count == wanted } } inside' README.md)
  compiled=$(awk '/^import / { started = 1 } started' "$2")
  if [ -z "$shown" ] || [ "$shown" != "$compiled" ]; then
    violation "README.md: its Swift example $1 is not what $2 says"
  fi
}
example 1 Tests/Workers/readme-example/main.swift
example 2 Tests/Workers/readme-queues/main.swift

if [ -s "$violations" ]; then
  cat "$violations" >&2
  exit 1
fi
echo "tidy: imports, floors, the format's lists, designs, sizes, comments, labels, planted defects, documented tests, the documentation's and the README's examples are as they should be"
