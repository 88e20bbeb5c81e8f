#!/bin/sh
# Measures SharedTable beside its peers, in one run. Installs what the peers need.
#
#   Benchmarks/run.sh SWIFT SCRATCH [OPTION OR CONTEST...]    those of `bench --help`
set -eu
cd "$(dirname "$0")"
swift=$1
scratch=$2
shift 2

../scripts/setup.sh liblmdb-dev libhiredis-dev libmemcached-dev libboost-dev libdpdk-dev redis-server redis-tools memcached
case $scratch in /*) ;; *) scratch=$PWD/../$scratch ;; esac
make --no-print-directory -C .. -f systemd/install.mk SWIFT="$swift" SCRATCH="$scratch" "$scratch/programs/shmctl"
# A plan made before does not know the files that SharedTable has got since.
rm -f "$scratch/benchmarks/release.yaml"
$swift build -c release --scratch-path "$scratch/benchmarks"
bench=$($swift build -c release --scratch-path "$scratch/benchmarks" --show-bin-path)/bench
processor=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
on="$(date -u +%F): $(nproc) processors (${processor:-$(uname -m)}), Linux $(uname -r | cut -d - -f 1)"
exec "$bench" --shmctl "$scratch/programs/shmctl" --bars bars.txt --on "$on" "$@"
