#!/bin/sh
# Runs `shmctl top` and `shmctl plot` in a real terminal (tmux) at three sizes, and sees what stands on the screen, that a resize
# is followed, and that every end but SIGKILL leaves the terminal as it was.
#
#   scripts/terminal-test.sh PATH-OF-SHMCTL [DIRECTORY]    with a directory: the screens' pictures as text go there
set -eu

shmctl=$(realpath "$1")
pictures=${2:-}
directory=$(mktemp -d)
session=terminal-test-$$
table=terminal-test-$$
export LC_ALL=C.UTF-8 SWIFT_BACKTRACE=enable=no
unset NO_COLOR

. "$(dirname "$0")/terminal.sh"

finish() {
  end_terminal
  for name in $table $table.other; do "$shmctl" -q drop "$name" 2>/dev/null || true; done
  rm -rf "$directory"
}
ln -s "$shmctl" "$directory/shmctl"
trap finish EXIT
trap 'exit 1' INT TERM HUP

hides() {
  unwanted=$1
  until_true '! screen | grep -qF -e "$unwanted"' "no '$unwanted'"
}

# No line was longer than the terminal is wide: tmux joins what it had to wrap.
fits() {
  widest=$(tmux capture-pane -J -p -t "$session" | perl -CS -ne 'chomp; $most = length if length > $most; END { print $most + 0 }')
  [ "$widest" -le "$1" ] || fail "a line of $widest characters at width $1"
}

# A shell of its own for each case; what follows it tells how the terminal was left.
start() {
  start_terminal "$1" "$2" sh
  shift 2
  keys "stty -g >$directory/before; $*; echo ended \$?; stty -g >$directory/after" Enter
}

is_left() { until_true "[ \"\$(tmux display-message -p -t $session '#{alternate_on}')\" = 0 ]" "the shell's screen"; }

# Afterwards the terminal has the modes that it had, shows the screen from before, and a cursor.
left_whole() {
  ended "$1"
  [ "$(tmux display-message -p -t "$session" '#{alternate_on} #{cursor_flag}')" = "0 1" ] \
    || fail "the alternate screen is left on, or the cursor off"
  screen | grep -q "IN THE WAY" && fail "the screen of top is still there"
  return 0
}

"$shmctl" create "$table" --capacity 4MiB
"$shmctl" create "$table.other" --capacity 4MiB
"$shmctl" -t "$table" set key value

for size in "80 24" "40 10" "200 50"; do
  set -- $size
  start "$1" "$2" "$shmctl top --interval 100ms --filter $table"
  shows "shmctl top"
  shows "TABLE"
  [ "$2" -lt 12 ] || shows "IN THE WAY"
  [ "$2" -lt 6 ] || shows "q quit"
  fits "$1"
  [ -z "$pictures" ] || screen >"$pictures/top-$1x$2.txt"
  keys q
  left_whole 0
  echo "terminal-test: top at $1x$2: ok"
done

for size in "80 24" "40 10" "200 50"; do
  set -- $size
  for subject in fill latency; do
    start "$1" "$2" "clear; cd $directory; ./shmctl -t $table plot $subject --over 200ms"
    shows "ended 0"
    fits "$1"
    screen | grep -q "█" || fail "nothing is drawn"
    [ -z "$pictures" ] || screen >"$pictures/plot-$subject-$1x$2.txt"
  done
  echo "terminal-test: plot at $1x$2: ok"
done

# A dump whose reader waits: the progress stands in one row, and is gone in the end.
seq -f 'set key-%06g a-value-of-some-length' 20000 | "$shmctl" -q -t "$table.other" batch
for size in "80 24" "40 10" "200 50"; do
  set -- $size
  rm -f "$directory/go"
  start "$1" "$2" "clear; $shmctl -t $table.other dump | (head -c 300000; until [ -e $directory/go ]; do sleep 0.05; done; cat) | (sleep 0.5; cat >/dev/null)"
  shows "dump: "
  fits "$1"
  [ "$(screen | grep -c 'dump: ')" = 1 ] || fail "the progress takes more than a row"
  : >"$directory/go"
  shows "ended 0"
  hides "dump: "
  echo "terminal-test: progress at $1x$2: ok"
done

start 80 24 "$shmctl top --interval 100ms"
shows "by commits"
keys s
shows "by waits"
keys /
shows "filter: _"
keys "$table.other"
shows "filter: ${table}.other"
keys Enter
hides "filter: ${table}.other_"
tmux resize-window -t "$session" -x 60 -y 12
until_true "screen | awk 'NR == 12' | grep -q 'q quit'" "the keys in the last of 12 lines"
fits 60
tmux resize-window -t "$session" -x 120 -y 40
until_true "screen | awk 'NR == 40' | grep -q 'q quit'" "the keys in the last of 40 lines"
keys C-z
is_left
keys "fg" Enter
shows "q quit"
keys q
is_left
echo "terminal-test: keys, resizing and Ctrl-Z: ok"

start 80 24 "$shmctl top"
shows "q quit"
keys C-c
is_left
keys "echo ended 130; stty -g >$directory/after" Enter
left_whole 130
echo "terminal-test: Ctrl-C: ok"

for signal in "TERM 143" "HUP 129" "SEGV 139" "ABRT 134"; do
  set -- $signal
  start 80 24 "$shmctl top --interval 100ms"
  shows "q quit"
  pane=$(tmux display-message -p -t "$session" '#{pane_pid}')
  kill -"$1" "$(ps -o pid= --ppid "$pane" | tr -d ' ')"
  left_whole "$2"
done
echo "terminal-test: SIGTERM, SIGHUP, SIGSEGV, SIGABRT: ok"

start 80 24 "NO_COLOR=1 $shmctl top --interval 100ms"
shows "q quit"
tmux capture-pane -e -p -t "$session" | grep -q "$(printf '\033')" && fail "NO_COLOR is set, and there are attributes"
keys q
left_whole 0
echo "terminal-test: NO_COLOR: ok"
echo "terminal-test: all passed"
