#!/bin/bash
# redis-py's own tests against shmd:
#
#   redis-py-suite.sh SHMD REDIS-PY [TEST...]
#
# SHMD is a build of the daemon, REDIS-PY a tree of redis-py 4.6's sources, of which client and tests are used as they are. A test that
# asks for a command that shmd does not know is counted as such (redis-py-plugin.py); every other test that is not to pass is in
# redis-py-skipped.txt, below its reason, and a line there that names no test, or one that passes, is an error.
set -euo pipefail
. "$(dirname "$0")/serve.sh"

[ $# -ge 2 ] || { echo "redis-py-suite: which daemon, and which tree of redis-py 4.6? redis-py-suite.sh SHMD REDIS-PY [TEST...]" >&2; exit 64; }
shmd=$(realpath "$1") tree=$(realpath "$2")
shift 2
[ -e "$tree/tests/test_commands.py" ] || { echo "redis-py-suite: $tree has no tests/test_commands.py; give a tree of redis-py 4.6's sources" >&2; exit 64; }
# Debian's, which has the packages, whatever else is in PATH.
python=/usr/bin/python3
"$python" -c 'import pytest, pytest_asyncio, async_timeout' 2>/dev/null \
  || { echo "redis-py-suite: install Debian's packages python3-pytest, python3-pytest-asyncio and python3-async-timeout" >&2; exit 69; }
here=$(dirname "$(realpath "$0")")
tests=("$@")
if [ $# = 0 ]; then
  for name in commands connection connection_pool credentials encoding lock pipeline pubsub retry; do
    tests+=("tests/test_$name.py" "tests/test_asyncio/test_$name.py")
  done
  tests+=(tests/test_multiprocessing.py tests/test_command_parser.py tests/test_helpers.py tests/test_connect.py tests/test_asyncio/test_cwe_404.py
    tests/test_asyncio/test_connect.py)
fi

directory=$(mktemp -d /tmp/redis-py-suite-XXXXXX)
table=redis-py-suite-$$
daemon=
finish() {
  [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null || true
  rm -f /dev/shm/shmtable."$table"-*
  rm -rf "$directory"
}
trap finish EXIT

port=$("$python" -c 'import socket; listener = socket.create_server(("127.0.0.1", 0)); print(listener.getsockname()[1])')
# The suite uses the tenth database, and some beside it.
{
  echo "interval: 20ms"
  echo "tables:"
  for number in 0 1 2 3 4 5 6 7 8 9 10; do echo "  - {name: $table-$number, capacity: 64MiB}"; done
  echo "resp: {socket: $directory/shmd.sock, listen: \"127.0.0.1:$port\"}"
} >"$directory/shmd.yaml"
serve "$shmd" "$directory"

cp -r "$tree" "$directory/redis-py"
cd "$directory/redis-py"
status=0
PYTHONPATH=$here REDIS_PY_LISTED=$here/redis-py-skipped.txt REDIS_PY_SERVED=$(redis-cli -s "$directory/shmd.sock" command list | tr '\n' ' ') \
  REDIS_PY_WHOLE=$([ $# = 0 ] && echo yes || echo no) timeout 1200 "$python" -m pytest -p redis-py-plugin -p no:cacheprovider -q --tb=short \
  --redis-url "redis://127.0.0.1:$port/9" "${tests[@]}" >"$directory/output" 2>&1 </dev/null || status=$?
kill -0 "$daemon" 2>/dev/null || { echo "redis-py-suite: shmd has ended:" >&2; tail -5 "$directory/log" >&2; status=1; }
[ "$status" = 0 ] || grep -a -v '^tests/.*%\]$' "$directory/output" | tail -200
grep -a '^redis-py-suite:' "$directory/output" || true
exit "$status"
