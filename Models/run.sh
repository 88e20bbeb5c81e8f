#!/usr/bin/env bash
# Checks the models with Spin: every line of `cases` must end as it says.
#   Models/run.sh              all
#   Models/run.sh --bounded    a third of the lines of each model, the first clean one among them
#   Models/run.sh NAME...      the lines of these models, or those with -DNAME among their flags
#   Models/run.sh --long ...   the lines of `cases-long` as well: larger configurations, 600 s each (unless LIMIT says other)
#   Models/run.sh --report F   ... and writes a table of what was found to the file F
# Prints one line a case and exits 1 if any is a surprise. A clean model must have been searched exhaustively.
# JOBS (default 2) cases run at once; each may take LIMIT (default 240) seconds of processor time and 2 GB.
# (Not of wall time: a busy machine is no reason to fail. Five times LIMIT on the wall is the end all the same.)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
jobs=${JOBS:-2}
lists=("$here/cases") report= bounded=
while [ $# -gt 0 ]; do
    case $1 in
        --long) lists+=("$here/cases-long"); LIMIT=${LIMIT:-600}; shift ;;
        --report) report=$2; shift 2 ;;
        --bounded) bounded=yes; shift ;;
        *) break ;;
    esac
done
export LIMIT=${LIMIT:-240}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.pml "$work"
export work

# check NUMBER "model expectation flags...": the case's line goes to $work/NUMBER.line
check() {
    local number=$1 model expectation flags
    read -r model expectation flags <<<"$2"
    local dir=$work/$number label=$model${flags:+ $flags}
    mkdir "$dir" && cd "$dir"
    # MAXDEPTH=n among the flags is for the search, not for the model
    local depth=20000 flag
    local -a defines=()
    for flag in $flags; do
        case $flag in
            MAXDEPTH=*) depth=${flag#*=} ;;
            *) defines+=("$flag") ;;
        esac
    done
    # Spin looks for the model beside itself: one copy a case
    cp "$work/$model.pml" .
    local optimize=-O2
    [ "$expectation" != error ] || optimize=-O0          # found soon; the compiler would take longer
    if ! { spin -a "${defines[@]}" "$model.pml" && gcc $optimize -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c; } >build 2>&1; then
        { echo "FAILED $label: does not build"; tail -5 build; } >"$work/$number.line"
        cd / && rm -rf "$dir"; return
    fi
    local status=0
    (ulimit -t "$LIMIT"; exec timeout "$((5 * LIMIT))" ./pan -m"$depth") >out 2>&1 || status=$?
    local states seconds memory result
    states=$(awk '/states, stored/ {print $1}' out)
    seconds=$(awk '/elapsed time/ {print $4}' out)
    memory=$(awk '/total actual memory usage/ {printf "%d", $1}' out)
    # 124: timeout; 137 and 152: SIGKILL and SIGXCPU from the limit on processor time
    if [ "$status" = 124 ] || [ "$status" = 137 ] || [ "$status" = 152 ]; then
        result="timed out (LIMIT is $LIMIT s)"
    elif grep -qE 'out of memory|max search depth too small|reached -DMEMLIM|interrupted|aborting|hash-compact|Bitstate' out; then
        result="search not exhaustive: $(grep -m1 -E 'out of memory|max search depth too small|reached -DMEMLIM|interrupted|aborting|hash-compact|Bitstate' out)"
    elif grep -q 'errors: 0' out; then
        result=ok
    elif grep -qE 'assertion violated|invalid end state|acceptance cycle' out; then
        result=error
    else
        result="no result (status $status): $(tail -1 out)"
    fi
    case "$expectation/$result" in
        ok/ok | harmless/ok) echo "ok     $label: $states states, $seconds s, $memory MB" ;;
        error/error) echo "caught $label: $(grep -m1 -oE 'assertion violated .*\(at depth [0-9]+\)|invalid end state.*' out)" ;;
        ok/error | harmless/error) echo "FAILED $label: $(grep -m1 -E 'assertion violated|invalid end state' out)" ;;
        error/ok)    echo "FAILED $label: the bug was not found in $states states" ;;
        *)           echo "FAILED $label: $result" ;;
    esac >"$work/$number.line"
    echo "$model|$expectation|${result%% *}|${seconds:-0}|${memory:-0}" >"$work/$number.figures"
    cd / && rm -rf "$dir"
}
export -f check

wanted() { # LINE: is it in the subset asked for?
    [ "${#names[@]}" = 0 ] && return 0
    local name word
    for name in "${names[@]}"; do
        for word in $1; do
            case $word in "$name" | "-D$name" | "-D$name="*) return 0 ;; esac
        done
    done
    return 1
}

# A line in three of each model: the first, which is a clean search, the fourth and so on.
declare -A lines_of
sampled() { # LINE
    [ -n "$bounded" ] || return 0
    local model=${1%% *}
    local before=${lines_of[$model]:-0}
    lines_of[$model]=$((before + 1))
    [ $((before % 3)) = 0 ]
}

names=("$@")
number=1000
queue=$work/queue
: >"$queue"
while IFS= read -r line; do
    line=${line%%#*}
    [ -z "${line//[[:space:]]/}" ] && continue
    wanted "$line" && sampled "$line" || continue
    number=$((number + 1))
    printf '%s\0%s\0' "$number" "$line" >>"$queue"
done < <(cat "${lists[@]}")
[ -s "$queue" ] || { echo "no such case" >&2; exit 1; }

start=$SECONDS
xargs -0 -n 2 -P "$jobs" bash -c 'check "$@" && cat "$work/$1.line"' check <"$queue" || true
cat "$work"/*.line >"$work/all" 2>/dev/null || true
failed=$(grep -c '^FAILED' "$work/all" || true)
lines=$(grep -cE '^(ok|caught|FAILED) ' "$work/all" || true)
# One line a model: clean searches, bugs found, harmless changes, the longest search and the largest.
cat "$work"/*.figures 2>/dev/null | awk -F '|' -v report="$report" '
    { name = $1
      if ($2 == "ok" && $3 == "ok") clean[name]++
      if ($2 == "error" && $3 == "error") found[name]++
      if ($2 == "harmless" && $3 == "ok") harmless[name]++
      if (!(name in seen)) { seen[name] = 1; order[++models] = name }
      if ($4 + 0 > longest[name]) longest[name] = $4 + 0
      if ($5 + 0 > largest[name]) largest[name] = $5 + 0
      if (longest[name] > top) top = longest[name]
      if (largest[name] > big) big = largest[name] }
    END {
      if (report != "") {
        print "| model | clean | bugs found | harmless | longest search | largest |" >report
        print "|---|---|---|---|---|---|" >report
        for (i = 1; i <= models; i++) { name = order[i]
          printf "| `%s.pml` | %d | %d | %d | %.0f s | %d MB |\n", name, clean[name], found[name], harmless[name], longest[name], largest[name] >report } }
      printf "longest search %.1f s, largest %d MB\n", top, big }'
echo "$((number - 1000)) cases, $failed failed, $((SECONDS - start)) s"
[ "$failed" = 0 ] && [ "$lines" = "$((number - 1000))" ]
