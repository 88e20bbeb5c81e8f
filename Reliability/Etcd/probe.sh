#!/bin/bash
# Runs etcd-probe beside an etcd of its own.
#
#   probe.sh PROGRAM KEYS
set -euo pipefail
directory=$(mktemp -d)
etcd=
trap 'kill "$etcd" 2>/dev/null || true; wait 2>/dev/null; rm -rf "$directory"' EXIT
url=http://127.0.0.1:23790
etcd --name m --data-dir "$directory/data" --listen-client-urls $url --advertise-client-urls $url --log-level error \
  --listen-peer-urls http://127.0.0.1:23791 --initial-advertise-peer-urls http://127.0.0.1:23791 \
  --initial-cluster m=http://127.0.0.1:23791 --quota-backend-bytes 4000000000 >"$directory/log" 2>&1 &
etcd=$!
until ETCDCTL_API=3 etcdctl --endpoints $url endpoint health >/dev/null 2>&1; do sleep 0.2; done
"$1" 23790 "$2"
