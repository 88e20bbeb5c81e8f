#!/bin/bash
# Builds the Debian packages shmd, shmctl and sharedtable-dev into a directory.
#
#   scripts/deb.sh DIRECTORY RELEASE-PROGRAMS [SWIFT [FLAG OF SWIFT BUILD...]]
#
# Works on a copy of what git knows, so nothing of a work tree gets into a package, and with the date of the changelog's
# newest entry, so that two builds are equal byte for byte.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "$1")
programs=$(realpath "$2")
swift=${3:-swift}
shift $(($# < 3 ? $# : 3))

scripts/setup.sh dpkg-dev debhelper fakeroot
version=$(dpkg-parsechangelog -S Version)
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp)
export SOURCE_DATE_EPOCH
for said in "$("$programs/shmctl" --version)" "$("$programs/shmd" --version)"; do
  [ "$said" = "$version" ] || { echo "deb: a program says it is $said, debian/changelog says $version" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/sharedtable-$version
mkdir "$tree"
git archive HEAD debian docs systemd LICENSE $(debian/pages.pl --needed) | tar -x -C "$tree"
mkdir "$tree/package"
git archive HEAD Package.swift Sources/SharedMemory Sources/TableEngine Sources/SharedTable Sources/SharedTableFoundation \
  Sources/SharedTableObservation Sources/SharedTableOperations Sources/SharedTableTesting CShims README.md CHANGELOG.md | tar -x -C "$tree/package"
scripts/library-manifest.sh <Package.swift >"$tree/package/Package.swift"
scripts/man.sh "$work/pages" "$swift" "$@"

cp systemd/shmd.service systemd/shmd.sysusers systemd/shmd.tmpfiles "$tree/debian/"
sed -i "s/#VERSION#/$version/" "$tree/debian/shmd.preinst"
find "$work" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
(cd "$tree" && PROGRAMS=$programs PAGES=$work/pages dpkg-buildpackage -b -us -uc -d >"$work/log" 2>&1) ||
  { cat "$work/log" >&2; exit 1; }
mkdir -p "$out"
# Those of another version, and nothing else that lies there.
rm -f "$out"/shmd_*.deb "$out"/shmctl_*.deb "$out"/sharedtable-dev_*.deb
cp "$work"/*.deb "$out/"
ls -l "$out"/*.deb
