// swift-tools-version: 6.2
import PackageDescription

// What the peers need (liblmdb, hiredis, libmemcached, Boost, DPDK, Redis, memcached) is installed by run.sh. That
// weight is why this is a package of its own.
let shims = "-I\(Context.packageDirectory)/../CShims/include"
let floor = "-I\(Context.packageDirectory)/../Reliability/Floor/CFloor/include"
let dpdk: [String] = ["-I/usr/include/dpdk", "-I/usr/include/x86_64-linux-gnu/dpdk", "-march=corei7"]

let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "SharedTable", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .target(
      name: "CPeers",
      exclude: ["rculfhash.inc"],
      cSettings: [.unsafeFlags(["-O2", shims, floor] + dpdk)],
      linkerSettings: [
        "urcu-memb", "urcu-qsbr", "urcu-bp", "urcu-cds", "lmdb", "hiredis", "memcached", "rte_hash", "rte_eal",
      ]
      .map { .linkedLibrary($0) }),
    .target(name: "CxxPeers", cxxSettings: [.unsafeFlags(["-O2"])], linkerSettings: [.linkedLibrary("stdc++")]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CPeers", "CxxPeers", .product(name: "SharedTable", package: "SharedTable"),
        .product(name: "SharedTableFoundation", package: "SharedTable"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableExperimentalFeature("Lifetimes")]),
  ]
)
