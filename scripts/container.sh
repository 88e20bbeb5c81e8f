#!/bin/sh
# A container in small: a PID namespace of its own, and first a /dev/shm of its own (64 MiB), then the host's.
# Says in one line if it cannot run here (exit 77): it needs root, or rather the right to unshare and mount.
#
#   scripts/container.sh [swift] [flags of swift build]
set -eu
cd "$(dirname "$0")/.."

if ! unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
  echo "container: cannot run: making namespaces is not permitted here; run it as root" >&2
  exit 77
fi
swift=${1:-swift}
[ $# -eq 0 ] || shift
"$swift" build -c release --product shmctl "$@" </dev/null
shmctl=$("$swift" build -c release "$@" --show-bin-path)/shmctl
export shmctl
export table="container-$$"
# Root runs what lies in it: nobody else may have put it there.
work=$(mktemp -d)
export work
trap '"$shmctl" -q drop "$table" 2>/dev/null || true; rm -rf "$work"' EXIT
export library="$work/expect.sh"
cat >"$library" <<'END'
set -u
failed=0
# expect STATUS OUTPUT COMMAND…: the command's exit status, and its output where OUTPUT is not "*"
expect() {
  status=$1; output=$2; shift 2
  got=$("$@" 2>"$work/errors"); was=$?
  if [ "$was" = "$status" ] && { [ "$output" = "*" ] || [ "$got" = "$output" ]; }; then
    echo "  ok: $* -> $was $got"
  else
    echo "  FAILED: $* -> $was '$got' instead of $status '$output': $(cat "$work/errors")"; failed=1
  fi
}
END

echo "container: participant, in a /dev/shm of its own (64 MiB)"
unshare --mount --pid --fork --mount-proc sh -c '
  mount -t tmpfs -o size=64m,nosuid,nodev tmpfs /dev/shm && . "$library"
  expect 0 "" "$shmctl" create "$table" --capacity 16MiB
  expect 0 "" "$shmctl" -t "$table" set greeting hello
  expect 0 hello "$shmctl" -t "$table" get greeting
  expect 0 "" "$shmctl" create "$table-rwlock" --variant rwlock --capacity 16MiB
  expect 0 7 "$shmctl" -t "$table-rwlock" incr hits 7
  expect 5 "" "$shmctl" create "$table-big" --capacity 1GiB
  exit $failed'
if "$shmctl" tables | grep -q "^$table"; then
  echo "  FAILED: a table of the container is on the host" >&2
  exit 1
fi

echo "container: observer of the host's table, from another PID namespace"
"$shmctl" create "$table" --capacity 4MiB
"$shmctl" -t "$table" set greeting "from the host"
unshare --mount --pid --fork --mount-proc sh -c '
  . "$library"
  expect 0 "from the host" "$shmctl" -t "$table" get greeting
  expect 0 greeting "$shmctl" -t "$table" ls
  expect 4 "" "$shmctl" -t "$table" set greeting "from inside"
  exit $failed'
[ "$("$shmctl" -t "$table" get greeting)" = "from the host" ]
echo "container: both ways in work"
