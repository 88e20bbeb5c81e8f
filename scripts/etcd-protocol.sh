#!/bin/bash
# Makes the Swift of Sources/EtcdMessages from its protocol, with plugins of the versions that the package resolves to. Minutes; needs
# protobuf-compiler.
#
#   scripts/etcd-protocol.sh SWIFT
set -euo pipefail
cd "$(dirname "$0")/.."
swift=$1
scripts/setup.sh protobuf-compiler

scratch=$PWD/.build-etcd
$swift package --scratch-path "$scratch" --traits Etcd resolve
for plugin in swift-protobuf/protoc-gen-swift grpc-swift-protobuf/protoc-gen-grpc-swift-2; do
  $swift build --package-path "$scratch/checkouts/${plugin%/*}" --scratch-path "$scratch/generators" --product "${plugin#*/}"
done

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
protoc --plugin="$scratch/generators/debug/protoc-gen-swift" --plugin="$scratch/generators/debug/protoc-gen-grpc-swift-2" \
  --swift_out="$made" --swift_opt=Visibility=Package \
  --grpc-swift-2_out="$made" --grpc-swift-2_opt=Visibility=Package,Client=true,Server=false \
  --proto_path=Sources/EtcdMessages/Protocol etcd.proto
for kind in pb grpc; do
  { echo '// swift-format-ignore-file'; echo '#if Etcd'; cat "$made/etcd.$kind.swift"; echo '#endif'; } >Sources/EtcdMessages/etcd.$kind.swift
done
