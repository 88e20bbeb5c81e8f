#!/bin/bash
# Redis' own test suite against shmd:
#
#   redis-suite.sh SHMD REDIS [UNIT...]
#
# SHMD is a build of the daemon, REDIS a tree of Redis 7.0's sources (only its tests are used, nothing is built). Tests that ask for
# what shmd does not serve are in redis-suite-skipped.txt, each below its reason; a line there that skips nothing is an error. Needs tclsh.
set -euo pipefail
. "$(dirname "$0")/serve.sh"

[ $# -ge 2 ] || { echo "redis-suite: which daemon, and which tree of Redis 7.0? redis-suite.sh SHMD REDIS [UNIT...]" >&2; exit 64; }
shmd=$(realpath "$1") redis=$(realpath "$2")
shift 2
[ -x "$redis/runtest" ] || { echo "redis-suite: $redis has no runtest; give a tree of Redis 7.0's sources" >&2; exit 64; }
command -v tclsh >/dev/null || { echo "redis-suite: there is no tclsh; install Debian's package tcl" >&2; exit 69; }
listed=$(dirname "$(realpath "$0")")/redis-suite-skipped.txt
units=("$@")
[ $# -gt 0 ] || units=(unit/type/string unit/type/incr unit/expire unit/keyspace unit/scan unit/multi unit/pubsub unit/tracking unit/protocol
  unit/quit unit/other)

directory=$(mktemp -d /tmp/redis-suite-XXXXXX)
tables=(redis-suite-$$-0 redis-suite-$$-1)
daemon=
finish() {
  [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null || true
  for table in "${tables[@]}"; do rm -f "/dev/shm/shmtable.$table.ctl" "/dev/shm/shmtable.$table.data"; done
  rm -rf "$directory"
}
trap finish EXIT

port=$(tclsh <<<'puts [lindex [fconfigure [socket -server {} -myaddr 127.0.0.1 0] -sockname] 2]')
cat >"$directory/shmd.yaml" <<END
interval: 20ms
tables: [{name: ${tables[0]}, capacity: 256MiB}, {name: ${tables[1]}, capacity: 64MiB}]
resp: {socket: $directory/shmd.sock, listen: "127.0.0.1:$port"}
END
serve "$shmd" "$directory"

# The suite writes beside its sources: into a copy of what it reads.
mkdir -p "$directory/redis/src" "$directory/redis/tests/tmp"
cp -r "$redis/tests" "$redis/runtest" "$directory/redis/"
grep -v -e '^# ' -e '^$' "$listed" >"$directory/skipped"
options=()
for unit in "${units[@]}"; do options+=(--single "$unit"); done
cd "$directory/redis"
status=0
timeout 900 ./runtest --host 127.0.0.1 --port "$port" --singledb --ignore-encoding --ignore-digest --skipfile "$directory/skipped" \
  --tags '-needs:debug -needs:repl -needs:save -needs:config-maxmemory -needs:config-resetstat' \
  "${options[@]}" >"$directory/output" 2>&1 </dev/null || status=$?
sed -E 's/\x1b\[[0-9;]*m//g' "$directory/output" >"$directory/plain"
kill -0 "$daemon" 2>/dev/null || { echo "redis-suite: shmd has ended:" >&2; tail -5 "$directory/log" >&2; status=1; }
if [ "$status" != 0 ]; then
  # From the first failure on, with what the suite says of it.
  grep -A 12 -E '^\[(err|exception|TIMEOUT)' "$directory/plain" | head -200 || tail -40 "$directory/plain"
fi
if [ $# = 0 ] && [ "$status" = 0 ]; then
  while read -r name; do
    grep -qxF "[skip]: $name" "$directory/plain" || { echo "redis-suite: '$name' is listed as skipped, and no test has that name" >&2; status=1; }
  done <"$directory/skipped"
fi
count() { grep -cE "^\[$1\]" "$directory/plain" || true; }
echo "redis-suite: $(count ok) passed, $(count err) failed, $(count skip) skipped by the list, $(count ignore) by their tags"
exit "$status"
