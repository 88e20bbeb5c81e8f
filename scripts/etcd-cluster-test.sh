#!/bin/bash
# A table that mirrors an etcd of three members, each in a network namespace of its own, while members are killed and links cut; then by a
# slow link (slow-link.py), and through etcd's gRPC proxy. After each blow the table must be what etcd is at the table's revision, and
# etcd's newest revision must arrive. Needs root; exit 77 without.
#
#   scripts/etcd-cluster-test.sh DIRECTORY-OF-SHMD-AND-SHMCTL [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
programs=$1
rounds=${2:-1}
shmctl=$programs/shmctl
export ETCDCTL_API=3

if ! ip netns add "probe-$$" 2>/dev/null; then
  echo "etcd-cluster-test: cannot run: making network namespaces is not permitted here; run it as root" >&2
  exit 77
fi
ip netns del "probe-$$"

directory=$(mktemp -d)
name=etcd-cluster-$$
table=etcd-cluster-$$
declare -A process
hub=$name-hub
host=$name-host

finish() {
  status=$?
  for pid in "${process[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  for member in 1 2 3; do ip netns del "$name-$member" 2>/dev/null || true; done
  ip netns del "$host" 2>/dev/null || true
  ip netns del "$name-user" 2>/dev/null || true
  ip netns del "$hub" 2>/dev/null || true
  "$shmctl" -q drop "$table" 2>/dev/null || true
  if [ $status -ne 0 ]; then
    echo "etcd-cluster-test: FAILED; the end of the daemon's log:" >&2
    tail -n 20 "$directory/shmd.log" >&2 || true
  fi
  rm -rf "$directory"
}
trap finish EXIT

# --- a network -------------------------------------------------------------------------------------------------------

ip netns add "$hub"
ip -n "$hub" link add bridge type bridge
ip -n "$hub" link set bridge up
# connect NAMESPACE PORT ADDRESS
connect() {
  ip netns add "$1"
  ip -n "$hub" link add "$2" type veth peer name eth0 netns "$1"
  ip -n "$hub" link set "$2" master bridge up
  ip -n "$1" address add "$3/24" dev eth0
  ip -n "$1" link set eth0 up
  ip -n "$1" link set lo up
}
for member in 1 2 3; do connect "$name-$member" "port$member" "10.77.0.$member"; done
connect "$host" porth 10.77.0.10
# What the test itself asks and tells etcd goes by a link that is never cut.
connect "$name-user" portu 10.77.0.11
cut_link() { ip -n "$hub" link set "$1" down; }
mend_link() { ip -n "$hub" link set "$1" up; }

# --- members ---------------------------------------------------------------------------------------------------------

cluster=m1=http://10.77.0.1:2380,m2=http://10.77.0.2:2380,m3=http://10.77.0.3:2380
endpoints=10.77.0.1:2379,10.77.0.2:2379,10.77.0.3:2379
start_member() {
  ip netns exec "$name-$1" etcd --name "m$1" --data-dir "$directory/m$1" \
    --listen-client-urls "http://10.77.0.$1:2379" --advertise-client-urls "http://10.77.0.$1:2379" \
    --listen-peer-urls "http://10.77.0.$1:2380" --initial-advertise-peer-urls "http://10.77.0.$1:2380" \
    --initial-cluster "$cluster" --log-level error >>"$directory/m$1.log" 2>&1 &
  process[m$1]=$!
}
kill_process() {
  kill -9 "${process[$1]}"
  wait "${process[$1]}" 2>/dev/null || true
}
etcdctl() { ip netns exec "$name-user" etcdctl --endpoints "$endpoints" --command-timeout 20s "$@"; }
# The number of the member that leads, as soon as one does: after a blow they may still be at an election.
leader() {
  local number
  for _ in $(seq 100); do
    # Of a member that does not answer it complains, and tells of the others.
    number=$(etcdctl endpoint status -w json 2>/dev/null | python3 -c '
import json, sys
for status in json.load(sys.stdin):
    if status["Status"]["leader"] == status["Status"]["header"]["member_id"]:
        print(status["Endpoint"].split(":")[0].split(".")[-1]); break' 2>/dev/null) || true
    [ -z "$number" ] || { echo "$number"; return; }
    sleep 0.2
  done
  echo "etcd-cluster-test: no member leads" >&2
  return 1
}
# The revision in an answer of etcdctl.
revision_in_answer() { sed -E 's/.*"revision":([0-9]+).*/\1/'; }

# --- what must hold --------------------------------------------------------------------------------------------------

# configure ENDPOINTS: where the daemon, started anew, finds etcd.
configure() {
  cat >"$directory/shmd.yaml" <<END
interval: 100ms
tables:
  - name: $table
    capacity: 64MiB
    mode: "0600"
    upstream:
      address: etcd://$1/app/
      check: 500ms
END
}
start_daemon() {
  ip netns exec "$host" "$programs/shmd" --config "$directory/shmd.yaml" --runtime-directory "$directory/run" \
    >>"$directory/shmd.log" 2>&1 &
  process[shmd]=$!
}
state() { "$shmctl" --json upstream status -t "$table" 2>/dev/null | sed -E 's/.*"state":"([a-z]+)".*"revision":([0-9]+).*/\1 \2/'; }
# Waits until the table is at a revision, at least.
wait_for() {
  for _ in $(seq 600); do
    read -r _ revision <<<"$(state || true)"
    [ "${revision:-0}" -ge "$1" ] && return
    sleep 0.1
  done
  echo "the table did not reach revision $1: $("$shmctl" upstream status -t "$table" || true)" >&2
  return 1
}
# Writes a few keys while the blow is dealt; prints the last revision that was acknowledged.
write_some() {
  local last=0 number answer
  for number in $(seq "$1"); do
    # Two keys that change together.
    if answer=$(printf '\nput app/x %s\nput app/y %s\n\n\n' "$2-$number" "$2-$number" | etcdctl txn -w json 2>/dev/null); then
      last=$(revision_in_answer <<<"$answer")
    fi
    etcdctl put "app/k$((number % 7))" "$2-$number" >/dev/null 2>&1 || true
    [ $((number % 5)) -eq 0 ] && etcdctl del "app/k$(((number + 3) % 7))" >/dev/null 2>&1 || true
  done
  echo "$last"
}
# One moment of the table, and etcd at the revision that it says.
compare() {
  "$shmctl" dump --json -t "$table" >"$directory/dump"
  revision=$(grep -o 'revision [0-9]*' "$directory/dump" | head -n 1 | cut -d' ' -f2)
  etcdctl get --prefix app/ --rev "$revision" -w json >"$directory/range"
  python3 - "$directory" <<'END'
import base64, json, sys
table = {}
for line in open(sys.argv[1] + "/dump"):
    record = json.loads(line)
    if "key" in record and record["key"] != "#upstream": table[record["key"]] = record["value"]
answer = json.load(open(sys.argv[1] + "/range"))
etcd = {base64.b64decode(kv["key"]).decode()[4:]: base64.b64decode(kv["value"]).decode() for kv in answer.get("kvs", [])}
assert table == etcd, f"\n{table}\nis not\n{etcd}"
assert table.get("x") == table.get("y")
END
}
settle() {
  local last
  # Somebody leads again, and what is written now arrives.
  for _ in $(seq 100); do last=$(etcdctl put app/settled "$RANDOM" -w json 2>/dev/null | revision_in_answer) && break; done
  wait_for "$last"
  compare
}
# blow WORDS: deal it while somebody writes, then look.
blow() {
  local what=$1
  shift
  write_some 15 "${what// /-}" >"$directory/last" &
  local writer=$!
  sleep 0.3
  "$@"
  wait $writer
  wait_for "$(cat "$directory/last")"
  settle
  echo "  ok: $what"
}

# --- blows -----------------------------------------------------------------------------------------------------------

kill_member() { kill_process "m$1"; sleep 1; start_member "$1"; }
kill_leader() { local number; number=$(leader); kill_member "$number"; }
cut_leader() { local number; number=$(leader); cut_link "port$number"; sleep 3; mend_link "port$number"; }
cut_mirror() { cut_link porth; sleep 3; mend_link porth; }
kill_daemon() { kill_process shmd; start_daemon; }
compact() { etcdctl compact "$(etcdctl put app/compacted "$RANDOM" -w json | revision_in_answer)" >/dev/null; }
compact_while_away() { cut_link porth; sleep 0.5; compact; sleep 0.5; mend_link porth; }
defragment() { etcdctl defrag >/dev/null; }
# The mirror reads all of the prefix through what is in between, as its table's revision is compacted away, and then follows through it.
go_through() {
  local before
  before=$(reads)
  kill_process shmd
  etcdctl put app/unseen "$RANDOM" >/dev/null
  compact
  configure "$1"
  start_daemon
  for _ in $(seq 600); do
    [ "$(reads)" -gt "$before" ] && return
    sleep 0.1
  done
  echo "the mirror did not read the prefix through $1" >&2
  return 1
}
reads() { grep -c 'has read the whole prefix' "$directory/shmd.log" || true; }
go_directly() {
  kill_process shmd
  configure "$endpoints"
  start_daemon
  settle
}
# 100 ms each way, 256 kB a second, and a second of nothing every five.
start_slow_link() {
  : >"$directory/link"
  ip netns exec "$host" python3 scripts/slow-link.py 2391=10.77.0.1:2379 2392=10.77.0.2:2379 2393=10.77.0.3:2379 \
    --delay 0.1 --rate 256000 --stall-every 5 >"$directory/link" &
  process[link]=$!
  until grep -q ready "$directory/link"; do kill -0 "${process[link]}"; sleep 0.1; done
}
slow_link() { go_through 127.0.0.1:2391,127.0.0.1:2392,127.0.0.1:2393; }
# Two megabytes: more than the link carries within a call's time.
fill() {
  local number
  for number in $(seq 40); do head -c 38000 /dev/urandom | base64 -w 0 | etcdctl put "app/large$number" >/dev/null; done
}

start_proxy() {
  ip netns exec "$host" etcd grpc-proxy start --endpoints "$endpoints" --listen-addr 127.0.0.1:23790 \
    --advertise-client-url 127.0.0.1:23790 --data-dir "$directory/proxy" >>"$directory/proxy.log" 2>&1 &
  process[proxy]=$!
}
through_proxy() { go_through 127.0.0.1:23790; }
kill_proxy() { kill_process proxy; sleep 1; start_proxy; }

for member in 1 2 3; do start_member $member; done
until etcdctl endpoint health >/dev/null 2>&1; do sleep 0.3; done
configure "$endpoints"
fill
start_daemon
settle
echo "etcd-cluster-test: three members, one mirror"
for round in $(seq "$rounds"); do
  for member in 1 2 3; do blow "member $member killed" kill_member $member; done
  blow "the leader killed" kill_leader
  blow "the leader cut off" cut_leader
  blow "the mirror cut off" cut_mirror
  blow "the daemon killed" kill_daemon
  blow "compacted under load" compact
  blow "compacted while the mirror was cut off" compact_while_away
  blow "defragmented" defragment
  start_slow_link
  blow "a slow link" slow_link
  blow "compacted while the mirror was cut off, behind a slow link" compact_while_away
  kill_process link
  go_directly
  start_proxy
  blow "etcd's proxy in between" through_proxy
  blow "the proxy killed" kill_proxy
  blow "the leader killed behind the proxy" kill_leader
  kill_process proxy
  go_directly
done
if grep -q 'mirror stopped' "$directory/shmd.log"; then
  echo "the mirror stopped:" >&2
  grep 'mirror stopped' "$directory/shmd.log" >&2
  exit 1
fi
echo "etcd-cluster-test: the table was what etcd was after each"
