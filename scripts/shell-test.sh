#!/bin/bash
# Runs shmctl's interactive mode in a real terminal (tmux), and its completions in bash, zsh and fish, as far as they are installed.
#
#   scripts/shell-test.sh PATH-OF-SHMCTL
set -eu

shmctl=$(realpath "$1")
directory=$(mktemp -d)
session=shell-test-$$
table=shell-test-$$
export LC_ALL=C.UTF-8 SWIFT_BACKTRACE=enable=no SHMCTL_CONFIG=/dev/null SHMCTL_HISTORY=$directory/state/history
unset SHM_TABLE SHM_TIMEOUT SHM_TRUST

. "$(dirname "$0")/terminal.sh"
case $(uname -m) in
  x86_64) write_call=1 ;;
  *) write_call=64 ;;
esac

finish() {
  end_terminal
  for name in "$table" "$table.other"; do "$shmctl" -q drop "$name" 2>/dev/null || true; done
  rm -rf "$directory"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

ln -s "$shmctl" "$directory/shmctl"
export PATH=$directory:$PATH
shmctl create "$table" --capacity 4MiB
shmctl create "$table.other" --capacity 4MiB
shmctl -t "$table" mset user:1 anna user:2 bert "with space" x "two words" y other:key o

# The interactive mode.
start_terminal 80 24 sh
type_in "stty -g >$directory/before; shmctl -t $table; echo ended \$?; stty -g >$directory/after"
keys Enter
shows "shmctl $table>"
type_in "set greeting 'hello'"
keys Enter
shows "single quotes are characters here"
type_in 'set greeting "hello wörld"'
keys Enter
type_in "get greeting"
keys Enter
shows '"hello wörld"'
type_in "get us"
keys Tab
shows "get user:"
keys Tab
shows "user:1  user:2"
type_in "2"
keys Enter
shows '"bert"'
type_in 'get wi'
keys Tab
shows 'get with\sspace'
keys Enter
shows '"x"'
type_in 'get "two w'
keys Tab
shows 'get two\swords'
keys Enter
shows '"y"'
type_in "# us"
keys Tab
type_in "ers"
shows "# users"
keys C-u
type_in "set k a\\x00b"
keys Enter
shows "can hold a zero byte"
# What is pasted behind the first line's end is the next lines'.
tmux set-buffer "set pasted 4
append pasted 2
get pasted
"
tmux paste-buffer -t "$session"
shows '"42"'
type_in "get nonsense"
keys Left Left Left BSpace C-a
type_in "zz"
keys C-c
type_in "typ"
keys Tab
type_in "greeting"
keys Enter
shows "string"
keys Up Up
type_in "x"
keys C-u
type_in "wait nothing --timeout 60s"
keys Enter
until_true "tmux list-panes -t $session -F '#{pane_pid}' | xargs -I{} pgrep -f 'wait nothing' >/dev/null" "the command that waits"
keys C-c
type_in "count"
keys Enter
until_true "screen | grep -qx 7" "the number of keys"
type_in "use $table.oth"
keys Tab
shows "use $table.other"
keys Enter
shows "shmctl $table.other>"
type_in "use nonsense"
keys Enter
shows "there is no table 'nonsense'"
type_in " set secret value"
keys Enter
# What is typed while a command runs is echoed by the terminal.
until_true "screen | grep . | tail -n 1 | grep -q '> *$'" "the prompt behind the last command"
tmux resize-window -t "$session" -x 40 -y 10
type_in "set long 日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語end"
shows "end"
[ "$(screen | grep -c 日本)" = 1 ] || fail "a long line takes more than a row"
keys C-u C-d
ended 0
[ "$(stat -c %a "$SHMCTL_HISTORY")" = 600 ] || fail "the history is not its user's alone"
grep -qxF 'get greeting' "$SHMCTL_HISTORY" || fail "the history lacks a line"
! grep -q secret "$SHMCTL_HISTORY" || fail "a line that begins with a space is kept"
echo "shell-test: interactive mode: ok"

# Ctrl-C between a line and its command ends neither. The line's complaint waits for a full pipe: that is where it comes.
mkfifo "$directory/complaints"
exec 3<>"$directory/complaints"
dd if=/dev/zero of="$directory/complaints" bs=4096 oflag=nonblock status=none 2>/dev/null || true
start_terminal 80 24 sh
type_in "stty -g >$directory/before; shmctl -t $table 2>$directory/complaints; echo ended \$?; stty -g >$directory/after"
keys Enter
shows "shmctl $table>"
type_in "set greeting 'hello'"
keys Enter
pane=$(tmux display-message -p -t "$session" '#{pane_pid}')
interactive=$(ps -o pid= --ppid "$pane" | tr -d ' ')
until_true "[ \"\$(cut -d' ' -f1,2 /proc/$interactive/syscall)\" = '$write_call 0x2' ]" "the complaint waits"
keys C-c
until_true "screen | grep -qF '^C'" "Ctrl-C echoed"
cat <&3 >/dev/null &
reader=$!
type_in "get user:1"
keys Enter
shows '"anna"'
keys C-d
ended 0
kill "$reader"
exec 3>&-
echo "shell-test: Ctrl-C between a line and its command: ok"

# A later one has the former's lines; a signal leaves the terminal whole, also one that comes while a command runs and is followed by
# another.
for signal in "TERM 143" "HUP 129" "INT 130" "QUIT 131" "later 143"; do
  status=${signal#* }
  signal=${signal% *}
  start_terminal 80 24 sh
  type_in "stty -g >$directory/before; shmctl shell -t $table"
  keys Enter
  shows "shmctl $table>"
  type_in "get gr"
  keys Up
  shows "get greeting"
  pane=$(tmux display-message -p -t "$session" '#{pane_pid}')
  interactive=$(ps -o pid= --ppid "$pane" | tr -d ' ')
  if [ "$signal" = later ]; then
    keys C-u
    type_in "wait nothing --timeout 60s"
    keys Enter
    until_true "pgrep -P $interactive >/dev/null" "the command that waits"
    kill -TERM "$interactive"
    # Of two that wait the later one's handler would run first.
    until_true "grep -qx 'ShdPnd:.0*' /proc/$interactive/status" "SIGTERM taken"
    kill -WINCH "$interactive"
    keys C-c
  else
    kill -"$signal" "$interactive"
  fi
  # Behind SIGINT the shell would forget the rest of a line that it has already.
  until_true "! kill -0 $interactive 2>/dev/null" "the end by $signal"
  type_in "echo ended \$?; stty -g >$directory/after"
  keys Enter
  ended "$status"
done
echo "shell-test: history, signals: ok"

# The shells' completions: a line that the shell completes, and what it stands as then.
cases() {
  complete_line "shmctl coun" "shmctl count "
  complete_line "shmctl -t $table get user:" "shmctl -t $table get user:" Tab "user:1 user:2"
  complete_line "shmctl -t $table get other" "shmctl -t $table get other:key "
  complete_line "shmctl -t $table.o" "shmctl -t $table.other "
  complete_line "shmctl -t $table get --defa" "shmctl -t $table get --default "
  complete_line "shmctl create x --group roo" "shmctl create x --group root "
  complete_line "shmctl export re" "shmctl export resp "
  complete_line "shmctl load -t $table $directory/du" "shmctl load -t $table $directory/dump.of.table "
}
complete_line() { # typed, expected, [key, words that are listed]
  keys C-u
  type_in "$1"
  keys Tab
  until_true "screen | sed 's/ *\$//' | grep -qxF -e $(printf %q "\$ ${2% }")" "$1 completed by $shell to '$2'"
  [ $# -lt 4 ] || {
    keys Tab
    for word in $4; do shows "${word##*:}"; done
  }
}
: >"$directory/dump.of.table"
for shell in bash zsh fish; do
  if ! command -v $shell >/dev/null; then
    echo "shell-test: $shell is not installed: its completion was not run"
    continue
  fi
  shmctl --generate-completion-script $shell >"$directory/_shmctl.$shell"
  case $shell in
    bash) start_terminal 100 30 env PS1='$ ' bash --norc --noprofile
      type_in "PS1='\$ '; . $directory/_shmctl.bash" ;;
    zsh) start_terminal 100 30 env PS1='$ ' zsh -f
      type_in "PS1='\$ '; autoload -Uz compinit; compinit -D -u; . $directory/_shmctl.zsh" ;;
    fish) start_terminal 100 30 env HOME="$directory" fish --no-config --init-command "function fish_prompt; echo '\$ '; end; function fish_greeting; end"
      type_in "source $directory/_shmctl.fish" ;;
  esac
  keys Enter
  type_in "clear; echo re''ady"
  keys Enter
  shows "ready"
  cases
  echo "shell-test: completion in $shell: ok"
done
echo "shell-test: all passed"
