#!/bin/sh
# Writes the manual pages and completions of shmctl, and the pages of shmd and of its configuration, into a directory.
#
#   scripts/man.sh DIRECTORY [SWIFT [FLAG OF SWIFT BUILD...]]
#
# ArgumentParser's plugin makes the pages of the commands from their declarations. What it does not know is added here:
# names that man(1) finds (shmctl-set), the examples of docs/shmctl-examples.txt, exit statuses, what to read next.
set -eu
cd "$(dirname "$0")/.."
out=$1
swift=${2:-swift}
[ $# -lt 2 ] || shift
shift

. scripts/flags.sh
split_flags "$@"

date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%d)
$swift package --scratch-path "$scratch" --allow-writing-to-package-directory generate-manual --multi-page \
  --section 1 --date "$date" </dev/null >"$scratch/manual.log" 2>&1 || { cat "$scratch/manual.log" >&2; exit 1; }

mkdir -p "$out"
# What it made before, and nothing else that lies there.
rm -f "$out"/shmctl.1 "$out"/shmctl-*.1 "$out/shmd.8" "$out/shmd.yaml.5" "$out/shmctl.bash" "$out/_shmctl" "$out/shmctl.fish"
for page in "$scratch"/plugins/GenerateManual/outputs/shmctl/shmctl*.1; do
  name=$(basename "$page" .1 | tr . -)
  # `complete` is for the shells' completions.
  case $name in shmctl-help | shmctl-complete) continue ;; esac
  command=${name#shmctl-}
  typed=$(echo "$name" | tr - ' ')
  {
    # A name of one word for whatis(1); the synopsis shows how it is typed.
    sed -e "0,/^\.Nm \"$typed\"/s//.Nm $name/" -e "s/^\.Nm\$/.Nm \"$typed\"/" \
      -e "s/^\.Dt .*/.Dt $(echo "$name" | tr a-z A-Z) 1/" \
      -e '/^\.Sh "EXIT STATUS"$/,$d' -e 's/^$/.Pp/' "$page" | sed '$a\' # a last line without an end gets one
    scripts/man-examples.awk -v command="$command" docs/shmctl-examples.txt
    echo '.Sh EXIT STATUS'
    if [ "$name" = shmctl ]; then
      echo 'Listed above. The numbers never change their meaning.'
    else
      echo '0 if done; of the others'
      echo '.Xr shmctl 1'
      echo 'has a list.'
    fi
    echo '.Sh SEE ALSO'
    if [ "$name" = shmctl ]; then
      for other in "$scratch"/plugins/GenerateManual/outputs/shmctl/shmctl.*.1; do
        other=$(basename "$other" .1 | tr . -)
        case $other in shmctl-help | shmctl-complete) ;; *) echo ".Xr $other 1 ," ;; esac
      done
    else
      echo '.Xr shmctl 1 ,'
    fi
    echo '.Xr shmd 8'
  } >"$out/$name.1"
done
cp systemd/shmd.8 systemd/shmd.yaml.5 "$out"

program=$($swift build -c release $rest --scratch-path "$scratch" --show-bin-path)/shmctl
[ -x "$program" ] || $swift build -c release $rest --scratch-path "$scratch" --product shmctl </dev/null
"$program" --generate-completion-script bash >"$out/shmctl.bash"
"$program" --generate-completion-script zsh >"$out/_shmctl"
"$program" --generate-completion-script fish >"$out/shmctl.fish"
