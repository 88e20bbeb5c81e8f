#!/bin/sh
# Builds the fuzzer (Reliability/Fuzz), and runs it.
#
#   Reliability/Fuzz/run.sh SWIFT build [FLAG OF SWIFT BUILD...]      prints where it is
#   Reliability/Fuzz/run.sh SWIFT bounded [FLAG OF SWIFT BUILD...]    ten seconds a target, by way of the torture program
#
# libFuzzer and the address sanitizer come with the Swift toolchain. The build has a directory of its own below the
# scratch path: its flags are another program's.
set -eu
cd "$(dirname "$0")/../.."
swift=$1
form=$2
shift 2
. scripts/flags.sh

build() (
  split_flags "$@"
  export SHAREDTABLE_FUZZ=1
  # shellcheck disable=SC2086 # a list
  set -- -c release --scratch-path "$scratch/fuzz" $rest
  $swift build --product fuzz "$@" >&2 </dev/null
  echo "$($swift build "$@" --show-bin-path)/fuzz"
)

case $form in
  build) build "$@" ;;
  bounded)
    SHAREDTABLE_FUZZER=$(build "$@")
    export SHAREDTABLE_FUZZER
    export SHAREDTABLE_RELIABILITY=1
    $swift build -c release --product torture "$@" </dev/null
    "$($swift build -c release "$@" --show-bin-path)/torture" fuzz.observer fuzz.attach
    ;;
  *)
    echo "fuzz.sh: build or bounded" >&2
    exit 2
    ;;
esac
