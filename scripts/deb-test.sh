#!/bin/bash
# The Debian packages in a minimal Debian under its own systemd: install, use, upgrade under load, downgrade refused, durable
# tables over a reboot's loss of memory, remove, purge.
#
#   scripts/deb-test.sh DIRECTORY WITH THE PACKAGES
#
# Makes the minimal Debian once (debootstrap, in $MINBASE, default /var/tmp/sharedtable-minbase; needs the network), and boots
# a throw-away overlay of it (scripts/systemd-guest.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/systemd-guest.sh

guest_possible
command -v debootstrap >/dev/null || cannot "needs debootstrap"
PACKAGES=$(realpath "$1")
SHMD=$(ls "$PACKAGES"/shmd_*.deb) SHMCTL=$(ls "$PACKAGES"/shmctl_*.deb)
MINBASE=${MINBASE:-/var/tmp/sharedtable-minbase}
if [ ! -e "$MINBASE/complete" ]; then
  rm -rf "$MINBASE"
  mirror=$(sed -n -E 's/^deb (\[[^]]*\] )?([^ ]+) .*/\2/p; s/^URIs: //p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1 || :)
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus bookworm "$MINBASE" "$mirror" >"$MINBASE.log" 2>&1 ||
    { tail -5 "$MINBASE.log"; cannot "debootstrap failed"; }
  touch "$MINBASE/complete"
fi

# An upgrade and a downgrade: the same contents under other version numbers.
OTHERS=$(mktemp -d)
for version in 0.0.1 9.0.0; do
  dpkg-deb -R "$SHMD" "$OTHERS/tree"
  sed -i "s/^Version: .*/Version: $version/" "$OTHERS/tree/DEBIAN/control"
  sed -i "s/^this=.*/this=\"$version\"/" "$OTHERS/tree/DEBIAN/preinst"
  dpkg-deb --root-owner-group -b "$OTHERS/tree" "$OTHERS/shmd-$version.deb" >/dev/null
  rm -rf "$OTHERS/tree"
done

copy_packages() {
  mkdir "$WORK/root/packages"
  cp "$SHMD" "$WORK/root/packages/shmd.deb"
  cp "$SHMCTL" "$WORK/root/packages/shmctl.deb"
  cp "$OTHERS"/*.deb "$WORK/root/packages/"
}
export SHMD SHMCTL OTHERS
export -f copy_packages
boot_guest "$MINBASE" copy_packages
rm -rf "$OTHERS"

install_package() { in_guest env DEBIAN_FRONTEND=noninteractive dpkg -i --force-confold "$@" >"$WORK.dpkg" 2>&1; }
pid() { in_guest systemctl show shmd --property MainPID --value; }
is_active() { [ "$(in_guest systemctl is-active shmd)" = active ]; }

# ---- install

install_package /packages/shmd.deb /packages/shmctl.deb || { cat "$WORK.dpkg"; fail "the packages do not install"; }
is_active || fail "shmd is not active after its installation"
[ -z "$(in_guest sh -c 'ldd /usr/sbin/shmd | grep "not found"' || :)" ] || fail "shmd lacks a library"
in_guest shmctl set greeting hello
[ "$(in_guest shmctl get greeting)" = hello ] || fail "shmctl cannot use shmd's table"
# man(1) looks into section 1 before section 2, where a system call has the same name.
contents=$(dpkg-deb -c "$SHMCTL")
for file in man/man1/shmctl.1.gz man/man1/shmctl-get.1.gz bash-completion/completions/shmctl zsh/vendor-completions/_shmctl \
  fish/vendor_completions.d/shmctl.fish; do
  grep -q " ./usr/share/$file\$" <<<"$contents" || fail "the package shmctl lacks $file"
done
# What the pages lead to.
grep -q ' ./usr/share/doc/shmctl/shmctl-json.md$' <<<"$contents" || fail "the package shmctl lacks shmctl-json.md"
dpkg-deb --fsys-tarfile "$SHMD" | tar -x -C "$WORK" ./usr/share/doc/shmd
[ -e "$WORK/usr/share/doc/shmd/CHANGELOG.md.gz" ] || fail "the package shmd lacks CHANGELOG"
dead=$(cd "$WORK/usr/share/doc/shmd" && grep -oh '](\([^)#]*\)' *.md | sed 's/^](//' | grep -v '^http' | sort -u |
  while read -r target; do [ -z "$target" ] || [ -e "$target" ] || echo "$target"; done)
[ -z "$dead" ] || fail "pages of the package shmd lead to what it lacks: $dead"
ok "installed in a minimal Debian, active, and used"

# ---- a durable table

in_guest mkdir -p /etc/shmd.d
in_guest sh -c 'printf "tables:\n  - {name: kept, capacity: 4M, durability: every-barrier}\n" > /etc/shmd.d/kept.yaml'
in_guest systemctl reload shmd || fail "the drop-in is refused"
in_guest shmctl -t kept set number 42 --int --sync || fail "a durable table does not answer --sync"

# ---- upgrade under load

in_guest sh -c 'n=0; while [ ! -e /run/stop ]; do n=$((n+1)); shmctl set counter $n && [ "$(shmctl get counter)" = $n ] || echo lost $n; done > /run/load 2>&1; echo $n > /run/rounds' &
load=$!
until_true "the load is on" in_guest shmctl -q exists counter
before=$(pid)
install_package /packages/shmd-9.0.0.deb || { cat "$WORK.dpkg"; fail "the upgrade fails"; }
is_active || fail "shmd is not active after the upgrade"
[ "$(pid)" != "$before" ] || fail "the upgrade did not start the new daemon"
in_guest touch /run/stop
wait "$load"
[ ! -s "$WORK/root/run/load" ] && [ -z "$(in_guest cat /run/load)" ] || fail "clients saw errors: $(in_guest head -3 /run/load)"
[ "$(in_guest shmctl get greeting)" = hello ] || fail "the upgrade cost the table"
ok "upgraded under load, $(in_guest cat /run/rounds) rounds of a client without an error"

# ---- downgrade

if install_package /packages/shmd-0.0.1.deb; then fail "a downgrade is not refused"; fi
grep -q "nothing was changed" "$WORK.dpkg" || fail "the refusal of a downgrade does not say why"
is_active || fail "a refused downgrade stopped the daemon"
ok "a downgrade is refused with a message"

# ---- what a reboot does to memory

in_guest systemctl stop shmd
in_guest sh -c 'rm /dev/shm/shmtable.*'
in_guest systemctl start shmd
[ "$(in_guest shmctl -t kept get number)" = 42 ] || fail "the durable table did not come back"
ok "a durable table comes back after /dev/shm was emptied"

# ---- remove, purge

in_guest shmctl set greeting "still here"
in_guest dpkg -r shmd >/dev/null 2>&1
! in_guest systemctl -q is-active shmd || fail "shmd runs after its removal"
[ "$(in_guest shmctl --trust "$(in_guest stat -c %u /dev/shm/shmtable.default.data)" get greeting)" = "still here" ] || fail "the removal cost the table"
in_guest test -e /etc/shmd.yaml || fail "the removal took the configuration"
in_guest sh -c 'ls /var/lib/shmd/*' >/dev/null || fail "the removal took the store"
ok "removed; tables, configuration and store stay"
in_guest dpkg -P shmd >/dev/null 2>&1
for left in /etc/shmd.yaml /var/lib/shmd /dev/shm/shmtable.default.data; do
  ! in_guest test -e "$left" || fail "a purge leaves $left"
done
ok "purged; nothing is left"
