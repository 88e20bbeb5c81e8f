#!/bin/bash
# Makes the pictures of shmctl's screens for the documentation, in a real terminal (tmux).
#
#   scripts/pictures.sh PATH-OF-SHMCTL DIRECTORY
set -euo pipefail
shmctl=$(realpath "$1")
out=$2
here=$(realpath "$(dirname "$0")")
directory=$(mktemp -d)
session=pictures-$$
tables="settings.pictures sessions.pictures"
export LC_ALL=C.UTF-8 SHMCTL_CONFIG=/dev/null SHMCTL_HISTORY=$directory/history PS1='$ '
unset NO_COLOR SHM_TABLE
server=0
# Each picture has a server of its own: one that is just ending refuses the next session.
tmux() { command tmux -L "$session-$server" -f /dev/null "$@"; }
finish() {
  : >"$directory/end"
  tmux kill-server 2>/dev/null || true
  wait
  for name in $tables; do "$shmctl" -q drop "$name" 2>/dev/null || true; done
  rm -rf "$directory"
}
trap finish EXIT
ln -s "$shmctl" "$directory/shmctl"
export PATH=$directory:$PATH

shows() {
  local tries=0
  until tmux capture-pane -p -t "$session" | grep -qF -e "$1"; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { echo "pictures: never seen: $1" >&2; exit 1; }
    sleep 0.05
  done
}
screen() { # width height line-typed seen
  tmux kill-server 2>/dev/null || true
  server=$((server + 1))
  tmux new-session -d -s "$session" -x "$1" -y "$2" sh
  tmux send-keys -l -t "$session" "clear; $3"
  tmux send-keys -t "$session" Enter
  shows "$4"
}
picture() { tmux capture-pane -e -p -t "$session" | "$here/screen-svg.py" "$1" >"$out/$2.svg"; }

for name in $tables; do shmctl create "$name" --capacity 16MiB; done
shmctl -q -t settings.pictures mset theme dark language "en GB" user:1 anna user:2 bert
seq -f 'set session:%06g a-value-of-some-length-for-a-session' 60000 | shmctl -q -t sessions.pictures batch
for name in $tables; do
  until [ -e "$directory/end" ]; do
    seq -f 'incr visits-%g' 3000
    sleep 0.1
  done | shmctl -q -t $name batch &
done

screen 80 14 "shmctl top --interval 500ms --filter pictures" "IN THE WAY"
sleep 2
picture "shmctl top" shmctl-top
screen 80 16 "shmctl -t sessions.pictures plot latency --over 1s" "p99"
sleep 0.5
picture "shmctl plot latency" shmctl-plot
screen 80 3 "shmctl -t sessions.pictures dump | (sleep 1; head -c 1500000; sleep 4) >/dev/null" "dump: "
picture "The progress of shmctl dump" shmctl-progress
screen 80 12 "shmctl -t settings.pictures" "shmctl settings.pictures>"
tmux send-keys -l -t "$session" "get user:"
tmux send-keys -t "$session" Tab Tab
shows "user:1  user:2"
tmux send-keys -l -t "$session" "2"
tmux send-keys -t "$session" Enter
shows '"bert"'
tmux send-keys -l -t "$session" "incr visits 5"
tmux send-keys -t "$session" Enter
sleep 0.5
picture "shmctl's interactive mode" shmctl-shell
ls -l "$out"/shmctl-*.svg
