#!/bin/sh
# Sees every rule of scripts/tidy.sh fail: each violation is planted into a copy of the work tree, alone. While tidy looks at one copy
# the next is made and looked at, too.
set -eu
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fresh() {
  rm -rf "$work/tree"
  mkdir "$work/tree"
  git ls-files -z -- ':!Reliability/Fuzz/corpus' | tar --null --files-from=- --ignore-failed-read -cf - 2>/dev/null | tar -xf - -C "$work/tree"
  git -C "$work/tree" init -q
}
# Git has the names of all files: what tidy asks for. It copies none of them.
track() { git -C "$1" add -A -f --intent-to-add; }

# must_fail WHAT EXPECTED: after a change to the copy, tidy complains with EXPECTED. A failure ends the script in the next of these calls.
cases=0
before=
must_fail() {
  cases=$((cases + 1))
  mv "$work/tree" "$work/$cases"
  complains "$work/$cases" "$@" &
  wait_for_case_before
  before=$!
  fresh
}

wait_for_case_before() {
  if [ -n "$before" ] && ! wait "$before"; then
    wait
    exit 1
  fi
}

# complains TREE WHAT EXPECTED
complains() {
  track "$1"
  if scripts/tidy.sh "$1" >"$1.out" 2>&1; then
    echo "tidy-test: $2: not found" >&2
    exit 1
  fi
  if ! grep -q -e "$3" "$1.out" || [ "$(wc -l <"$1.out")" != 1 ]; then
    echo "tidy-test: $2: expected one complaint with '$3', got:" >&2
    cat "$1.out" >&2
    exit 1
  fi
  rm -rf "$1"
}

fresh
track "$work/tree"
scripts/tidy.sh "$work/tree"
tree=$work/tree

echo 'import TableEngine' >>"$tree/Sources/SharedMemory/Mapping.swift"
must_fail "an import from above" "SharedMemory may not import TableEngine"
echo 'public import struct TableEngine.MappedMemory' >>"$tree/Sources/shmctl/Shmctl.swift"
must_fail "an import past a floor, in another form" "shmctl may not import TableEngine"
echo '@_spi(X) import SharedTableFoundation' >>"$tree/Sources/SharedTable/Table/Table.swift"
must_fail "an import sideways" "SharedTable may not import SharedTableFoundation"
echo 'import CShims' >>"$tree/Sources/shmctl/Shmctl.swift"
must_fail "an undeclared C module" "shmctl may not import CShims"
echo 'import Foundation' >>"$tree/Sources/TableEngine/Table/EngineError.swift"
must_fail "Foundation" "imports full Foundation"
mkdir "$tree/Sources/Attic" && echo '# Attic' >"$tree/Sources/Attic/DESIGN.md"
must_fail "a module without a floor" "not in the floor plan"
echo 'let first: SharedCache<String, Int>? = nil' >>"$tree/Sources/SharedTable/Queues/Work/Job.swift"
must_fail "a folder that names a type of one above it" "Queues/ may not name SharedCache, which is of Cache/"
mkdir "$tree/Sources/SharedTable/Attic" && echo 'struct Old {}' >"$tree/Sources/SharedTable/Attic/Old.swift"
must_fail "a folder without a floor" "the folder Attic is not in the table"
sed -i '/^  let upstreamWrites/d' "$tree/Sources/SharedTable/Table/Table.swift"
must_fail "an exception that nothing needs" "the exception Table.swift UpstreamQueue is none"
echo '#include "floor.h"' >>"$tree/CShims/shm_object.c"
must_fail "a foreign header" "includes floor.h"
printf 'struct shm_new {\n};\n' >>"$tree/CShims/include/shm_format.h"
must_fail "a struct that is not hashed" "struct shm_new is not in SHM_FORMAT_STRUCTS"
echo '#define SHM_NEW 5' >>"$tree/CShims/include/shm_format_constants.h"
must_fail "a constant that is not hashed" "SHM_NEW is not in a list"
rm "$tree/Sources/TableEngine/DESIGN.md"
must_fail "a missing design" "no DESIGN.md"
rm "$tree/CHANGELOG.md"
must_fail "a missing changelog" "CHANGELOG.md: is missing"
echo '{}' >"$tree/Package.resolved"
must_fail "a tracked Package.resolved" "Package.resolved: is tracked"
mkdir "$tree/.build" && echo x >"$tree/.build/x"
must_fail "a tracked build directory" ".build/x: is tracked"
yes '// long' | head -n 600 >"$tree/Sources/SharedTable/Long.swift"
must_fail "a long file" "600 lines"
printf '\n/// The same, faster.\nprivate func f() {}\n' >>"$tree/Sources/TableEngine/Table/Segment.swift"
must_fail "a comment that needs its neighbour" 'Segment.swift:[0-9]*: a comment that begins with "The same"'
echo '// PAIR new-pair. Other end: MappedMemory.zero.' >>"$tree/Sources/TableEngine/Table/EngineError.swift"
must_fail "a label without a model" "PAIR new-pair: it is in code, Models/README.md says nothing"
echo '// PAIR evict-snapshot. Other end: MappedMemory.nothing.' >>"$tree/Sources/TableEngine/Table/EngineError.swift"
must_fail "a label whose other end is gone" "PAIR evict-snapshot: there is no MappedMemory.nothing"
echo '// PAIR evict-snapshot. As elsewhere.' >>"$tree/Sources/TableEngine/Table/EngineError.swift"
must_fail "a label without another end" "PAIR evict-snapshot: names no other end"
sed -i 's/PAIR evict-snapshot/evict/' "$tree/Models/eviction.pml"
must_fail "a label that left its model" "PAIR evict-snapshot: it is in code, Models/README.md says code models"
sed -i '/^| ORDER retained-commit /d' "$tree/Models/README.md"
must_fail "a label without a row" "ORDER retained-commit: it is in code models, Models/README.md says nothing"
sed -i 's/wseq) &+ 1)$/wseq) \&+ 2)/' "$tree/Sources/TableEngine/Writers/WriterState.swift"
must_fail "a planted defect without a place" "SEQUENCE_STILL: the text of hunk 1 is in 0 places"
echo 'NO_SUCH G1 aTest' >>"$tree/Reliability/Mutants/caught-by.txt"
must_fail "a planted defect without an edit" "NO_SUCH is not both"
echo 'let more = 1' >>"$tree/Tests/Workers/readme-example/main.swift"
must_fail "an example that differs" "its Swift example 1"
echo 'let more = 1' >>"$tree/Tests/Workers/readme-queues/main.swift"
must_fail "a second example that differs" "its Swift example 2"
sed -i 's/try .served += 1 }/try $served += 2 }/' "$tree/Tests/DocumentationTests/Pages/ThreadSafeWrappers.swift"
must_fail "a page that shows what is not compiled" "ThreadSafeWrappers.md:40: this Swift is not in"
sed -i 's/func noUpdateIsLost/func someUpdateIsLost/' "$tree/Tests/CollectionTests/SharedValueTests.swift"
must_fail "a test that the documentation names and that is gone" "there is no test SharedValueTests.noUpdateIsLost"
echo '@Suite(.enabled(if: stranger != nil)) struct ManyTests {}' >>"$tree/Tests/ShmctlTests/SetTests.swift"
must_fail "tests that are left out in silence" "say why the test cannot run"
wait_for_case_before
echo "tidy-test: every rule was seen to fail"
