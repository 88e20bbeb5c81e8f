#!/bin/sh
# Installs the Debian packages that are missing, as root or by `sudo -n`, and says so; without either, prints the
# line to run and exits 2. Swift itself is looked for, not installed: $SWIFT, else `swift`.
#
# scripts/setup.sh [--verify] [PACKAGE...]    what building, `make test` and the demo need; with --verify what
#                                             `make verify` needs too; and the packages named
set -eu

packages="git perl gcc make libc6-dev liburcu-dev libxxhash-dev libyaml-dev libsqlite3-dev"
if [ "${1:-}" = --verify ]; then
  shift
  # Disassembly, models, counting, terminals, cross compilation, Redis to compare with.
  packages="$packages binutils spin valgrind tmux procps gcc-aarch64-linux-gnu libc6-dev-arm64-cross redis-server redis-tools python3 zsh fish"
fi
packages="$packages $*"

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is no Debian; you need the equivalents of: $packages" >&2
  exit 2
fi

missing=""
for package in $packages; do
  # A line for each architecture.
  dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done

if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ]; then
    root=""
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    root="sudo -n"
  else
    echo "setup: packages are missing; run this as root and try again:" >&2
    echo "  apt-get install -y --no-install-recommends$missing" >&2
    exit 2
  fi
  echo "setup: installing$missing"
  case $missing in
    *redis-server* | *etcd-server*)
      echo "setup: Debian starts and enables the services of redis-server and etcd-server; the checks start their own, so after this:" \
        "systemctl disable --now redis-server etcd" ;;
  esac
  install="env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends$missing"
  # A new machine has no package lists, and old lists name files that are gone: apt-get's refusal is not shown, the
  # lists are refreshed, and what it says to the second try is shown.
  $root $install </dev/null >/dev/null 2>&1 || { $root apt-get update -qq </dev/null; $root $install </dev/null >/dev/null; }
fi

swift=${SWIFT:-swift}
if ! version=$($swift --version 2>/dev/null </dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1) \
  || [ -z "$version" ]; then
  echo "setup: there is no '$swift'; install Swift 6.2 or later, or name it (make SWIFT=/path/to/swift): https://www.swift.org/install/linux/" >&2
  exit 2
fi
if [ "${version%%.*}" -lt 6 ] || { [ "${version%%.*}" -eq 6 ] && [ "${version#*.}" -lt 2 ]; }; then
  echo "setup: '$swift' is $version, and 6.2 or later is needed: https://www.swift.org/install/linux/" >&2
  exit 2
fi
echo "setup: all packages are there, '$swift' is $version"
