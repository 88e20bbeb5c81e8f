#!/bin/sh
# From the manifest on standard input that of a package which holds the libraries alone, on standard output: the settings,
# the list `library`, and the products made of it. Programs and tests, and what they depend on, are left out.
set -eu
sed '/^let programs: /,$d'
cat <<'END'
let package = Package(
  name: "SharedTable",
  products: [
    .library(name: "SharedTable", targets: ["SharedTable"]),
    .library(name: "SharedTableFoundation", targets: ["SharedTableFoundation"]),
    .library(name: "SharedTableOperations", targets: ["SharedTableOperations"]),
    .library(name: "SharedTableObservation", targets: ["SharedTableObservation"]),
    .library(name: "SharedTableTesting", targets: ["SharedTableTesting"]),
  ],
  traits: [
    .trait(
      name: "CheckedReads",
      description: "Builds what read sections can be checked with into a release build, as it is in debug builds.")
  ],
  targets: library
)
END
