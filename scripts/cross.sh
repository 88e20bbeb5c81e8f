#!/bin/sh
# Compiles the C shim for aarch64: every source, and every header by itself, with warnings as errors.
# Nothing is linked and nothing runs. Clang reads the headers too, as Swift's importer will.
#
#   scripts/cross.sh [cross-gcc]
#
# Debian's liburcu and xxhash headers are the same for every architecture (urcu/arch.h chooses by the compiler's
# macros), so the machine's own serve, copied to where no other native header comes along.
set -eu
cd "$(dirname "$0")/.."

cross=${1:-aarch64-linux-gnu-gcc}
command -v "$cross" >/dev/null || { echo "cross: no $cross; run: make setup" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
native=/usr/include/$(gcc -print-multiarch)
mkdir "$work/include"
for header in "$native"/urcu "$native"/urcu*.h "$native"/lttng /usr/include/urcu /usr/include/urcu*.h /usr/include/xxhash.h /usr/include/xxh3.h; do
  [ ! -e "$header" ] || ln -s "$header" "$work/include/"
done

# What Swift inlines from the headers must compile too: one source that takes the address of it all.
cat >"$work/headers.c" <<'END'
#include "CShims.h"
uint32_t match(const void *bucket, uint32_t tag) { return shm_match_tag(bucket, tag); }
uint64_t hash(const void *key, size_t length) { return shm_hash(key, length, 1); }
uint64_t order(void *p) { shm_pause(); shm_store_release(p, 1); return shm_exchange_seqcst(p, 2) + shm_load_acquire(p); }
END

flags="-std=gnu11 -O2 -Wall -Wextra -Werror -Wno-unused-parameter -ICShims/include -isystem $work/include"
compile() {
  echo "cross: $1: $2${3:+ $3}"
  # shellcheck disable=SC2086
  "$1" $flags ${3:-} -c "$2" -o "$work/out.o"
}
for source in CShims/*.c "$work/headers.c"; do
  compile "$cross" "$source"
  compile "$cross" "$source" -DSHM_OUTLINE=1
done
compile "$cross" Reliability/Torture/CTrace/ctrace.c -IReliability/Torture/CTrace/include
for header in CShims/include/*.h; do
  printf '#include "%s"\n' "$(basename "$header")" >"$work/alone.c"
  echo "cross: $cross: $header by itself"
  # shellcheck disable=SC2086
  "$cross" $flags -Wno-unused-function -fsyntax-only "$work/alone.c"
done

# The compiler that Swift imports headers with, where it is at hand.
swiftc=$(command -v swiftc || true)
clang=$([ -z "$swiftc" ] || echo "$(dirname "$(readlink -f "$swiftc")")/clang")
sysroot=/usr/aarch64-linux-gnu
if [ -x "$clang" ] && [ -d "$sysroot/include" ]; then
  flags="$flags --target=aarch64-linux-gnu -isystem $sysroot/include"
  for source in CShims/*.c "$work/headers.c"; do compile "$clang" "$source"; done
  # They include the shim's headers too, and `make verify` does not build the benchmarks, which need much.
  for source in Benchmarks/Sources/CPeers/urcu_*.c; do compile "$clang" "$source" -IBenchmarks/Sources/CPeers/include; done
fi
echo "cross: the shim compiles for aarch64; it was not run there"
