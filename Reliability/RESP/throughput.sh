#!/bin/bash
# Throughput of shmd beside redis-server, over Unix sockets, by redis-benchmark, in one run:
#
#   throughput.sh SHMD FLOOR [ROUNDS [COMMANDS]]
#
# SHMD is the daemon as it is installed, FLOOR resp-floor, built likewise. Each contest is run by turns, ROUNDS times each; a line has the
# median of commands a second of both, their ratio, the ratio of processor time that a command takes in the server, and the bar. Where
# each command comes alone, the last figure is the processor time of SwiftNIO's echo (resp-floor), likewise beside redis-server's.
set -euo pipefail

shmd=$1 floor=$2 rounds=${3:-5} commands=${4:-100000}
directory=$(mktemp -d /tmp/resp-throughput-XXXXXX)
table=resp-throughput-$$
processes=()

finish() {
  for process in "${processes[@]}"; do
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  rm -rf "$directory" "/dev/shm/shmtable.$table.ctl" "/dev/shm/shmtable.$table.data"
}
trap finish EXIT

cat >"$directory/shmd.yaml" <<END
tables: [{name: $table, capacity: 256MiB}]
resp: {socket: $directory/shmd.sock}
END
"$shmd" --config "$directory/shmd.yaml" --runtime-directory "$directory" >"$directory/shmd.log" 2>&1 &
ours=$!
processes+=($ours)
redis-server --port 0 --unixsocket "$directory/redis.sock" --save '' --dir "$directory" >"$directory/redis.log" 2>&1 &
theirs=$!
processes+=($theirs)
mkfifo "$directory/end"
"$floor" echo "$directory/echo.sock" <"$directory/end" >"$directory/echo.log" 2>&1 &
echo=$!
processes+=($echo)
exec 9>"$directory/end"
for server in shmd redis; do
  for _ in $(seq 300); do
    redis-cli -s "$directory/$server.sock" dbsize >/dev/null 2>&1 && break
    sleep 0.1
  done
  redis-cli -s "$directory/$server.sock" dbsize >/dev/null || { cat "$directory/$server.log" >&2; exit 1; }
done

# Ticks of processor time that a process has taken.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# Commands a second, and ticks, of one run.
run() { # server process options...
  local server=$1 process=$2 before rate
  shift 2
  before=$(ticks "$process")
  rate=$(redis-benchmark -s "$directory/$server.sock" -r 100000 --csv "$@" 2>/dev/null | awk -F '"' 'NR == 2 { print $4 }')
  echo "$rate $(($(ticks "$process") - before))"
}

median() { sort -g | awk '{ line[NR] = $1 } END { print line[int((NR + 1) / 2)] }'; }

contest() { # name bar options...
  local name=$1 bar=$2
  shift 2
  for _ in $(seq "$rounds"); do
    run shmd "$ours" "$@" >>"$directory/$name.shmd"
    run redis "$theirs" "$@" >>"$directory/$name.redis"
    case $name in *-pipelined) ;; *) run echo "$echo" "$@" >>"$directory/$name.echo" ;; esac
  done
  local rates=() ticks=()
  for server in shmd redis echo; do
    [ -e "$directory/$name.$server" ] || continue
    rates+=("$(cut -d ' ' -f 1 "$directory/$name.$server" | median)")
    ticks+=("$(awk '{ sum += $2 } END { print sum + 0.5 }' "$directory/$name.$server")")
  done
  awk -v name="$name" -v bar="$bar" -v ours="${rates[0]}" -v theirs="${rates[1]}" -v work="${ticks[0]}" -v theirwork="${ticks[1]}" \
    -v echo="${ticks[2]:-0}" \
    'BEGIN { printf "%-16s shmd %9d /s  redis %9d /s  ratio %5.2f  bar %s  processor time %5.2f%s\n", name, ours, theirs,
      ours / theirs, bar, work / theirwork, echo ? sprintf("  of an echo %5.2f", echo / theirwork) : "" }'
}

# Keys that are there.
for server in shmd redis; do
  redis-benchmark -s "$directory/$server.sock" -r 100000 -n 300000 -c 50 -P 100 -q -t set >/dev/null
done
for operation in get set; do
  contest "$operation-1" 0.9 -t $operation -c 1 -n $((commands / 2))
  contest "$operation-50" 1.0 -t $operation -c 50 -n "$commands"
done
contest get-pipelined 1.5 -t get -c 50 -P 100 -n $((commands * 30))
contest set-pipelined 2.0 -t set -c 50 -P 100 -n $((commands * 30))
