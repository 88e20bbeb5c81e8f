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
. "$here/terminal.sh"
finish() {
  : >"$directory/end"
  end_terminal
  wait
  for name in $tables; do "$shmctl" -q drop "$name" 2>/dev/null || true; done
  rm -rf "$directory"
}
trap finish EXIT
ln -s "$shmctl" "$directory/shmctl"
export PATH=$directory:$PATH

take() { # width height line-typed seen
  start_terminal "$1" "$2" sh
  type_in "clear; $3"
  keys Enter
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

take 80 14 "shmctl top --interval 500ms --filter pictures" "IN THE WAY"
sleep 2
picture "shmctl top" shmctl-top
take 80 16 "shmctl -t sessions.pictures plot latency --over 1s" "p99"
sleep 0.5
picture "shmctl plot latency" shmctl-plot
take 80 3 "shmctl -t sessions.pictures dump | (sleep 1; head -c 1500000; sleep 4) >/dev/null" "dump: "
picture "The progress of shmctl dump" shmctl-progress
take 80 12 "shmctl -t settings.pictures" "shmctl settings.pictures>"
type_in "get user:"
keys Tab Tab
shows "user:1  user:2"
type_in "2"
keys Enter
shows '"bert"'
type_in "incr visits 5"
keys Enter
sleep 0.5
picture "shmctl's interactive mode" shmctl-shell
ls -l "$out"/shmctl-*.svg
