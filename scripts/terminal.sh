# Functions for scripts that see programs in a real terminal (tmux), to be read by them with `.`. The script sets `session`, a name of
# its own, and `directory`.

# Each terminal has a server of its own: one that is just ending refuses the next session.
server=0
tmux() { command tmux -L "$session-$server" -f /dev/null "$@"; }

# start_terminal WIDTH HEIGHT COMMAND...
start_terminal() {
  end_terminal
  server=$((server + 1))
  rm -f "$directory/before" "$directory/after"
  width=$1 height=$2
  shift 2
  tmux new-session -d -s "$session" -x "$width" -y "$height" "$@"
}
end_terminal() { tmux kill-server 2>/dev/null || true; }

screen() { tmux capture-pane -p -t "$session"; }
keys() { tmux send-keys -t "$session" "$@"; }
type_in() { tmux send-keys -l -t "$session" "$1"; }

fail() {
  echo "$(basename "$0" .sh): $1" >&2
  screen 2>/dev/null | sed 's/^/  | /' >&2 || true
  exit 1
}
# until_true CONDITION NAME: waits until the condition, a line of shell, is true; the name is for people. A hang is a failure, after 30 s.
until_true() {
  tries=0
  until eval "$1"; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || fail "never seen: $2"
    sleep 0.05
  done
}
shows() {
  wanted=$1
  until_true 'screen | grep -qF -e "$wanted"' "$wanted"
}

# ended STATUS: the shell in the terminal has said so, has written the terminal's modes of before and after, and they are the same.
ended() {
  shows "ended $1"
  until_true "[ -s $directory/after ]" "the shell after the end"
  cmp -s "$directory/before" "$directory/after" || fail "the terminal's modes changed"
}
