#!/bin/sh
# Builds what the demo needs, in release, and runs it.
#
#   scripts/demo.sh [swift] [flags of swift build]
set -eu
cd "$(dirname "$0")/.."

swift=${1:-swift}
[ $# -eq 0 ] || shift
for product in shmd shmctl shm-demo; do
  "$swift" build -c release --product "$product" "$@" </dev/null
done
exec "$("$swift" build -c release "$@" --show-bin-path)/shm-demo" </dev/null
