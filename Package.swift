// swift-tools-version: 6.2
import PackageDescription

#if os(macOS)
  #error("SharedTable needs Linux: robust process-shared mutexes, membarrier and futexes are Linux interfaces.")
#endif

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .enableExperimentalFeature("Lifetimes"),
  .treatAllWarnings(as: .error),
]

/// Build with libFuzzer and the address sanitizer, and the program `fuzz` with it (Tests/fuzz.sh).
let fuzzes = Context.environment["SHAREDTABLE_FUZZ"] != nil
let fuzzed: [SwiftSetting] =
  fuzzes
  ? [
    .unsafeFlags([
      "-sanitize=address", "-sanitize-coverage=edge,inline-8bit-counters,pc-table", "-enable-testing",
      "-Xcc", "-DSHM_OUTLINE=1",
    ])
  ] : []
let fuzzedC: [CSetting] =
  fuzzes
  ? [
    .unsafeFlags(["-fsanitize=address", "-fsanitize-coverage=edge,inline-8bit-counters,pc-table"]),
    .define("SHM_OUTLINE", to: "1"),
  ] : []

// Tests handle raw memory on every line: `unsafe` before each would say nothing.
let testSettings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
  name: "SharedTable",
  products: [
    .library(name: "SharedTable", targets: ["SharedTable"]),
    .library(name: "SharedTableFoundation", targets: ["SharedTableFoundation"]),
    .library(name: "SharedTableOperations", targets: ["SharedTableOperations"]),
    .executable(name: "shmctl", targets: ["shmctl"]),
  ],
  traits: [
    .trait(
      name: "CheckedReads",
      description: "Builds what read sections can be checked with into a release build, as it is in debug builds.")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .target(
      name: "CShims",
      path: "CShims",
      exclude: ["DESIGN.md"],
      cSettings: fuzzedC,
      linkerSettings: [.linkedLibrary("urcu-bp"), .linkedLibrary("urcu-common")]
    ),
    .target(
      name: "SharedMemory", dependencies: ["CShims"], exclude: ["DESIGN.md"], swiftSettings: swiftSettings + fuzzed),
    .target(
      name: "TableEngine", dependencies: ["CShims", "SharedMemory"], exclude: ["DESIGN.md"],
      swiftSettings: swiftSettings + fuzzed),
    .target(
      name: "SharedTable", dependencies: ["CShims", "SharedMemory", "TableEngine"], exclude: ["DESIGN.md"],
      swiftSettings: swiftSettings + fuzzed),
    .target(
      name: "SharedTableFoundation", dependencies: ["SharedTable"], exclude: ["DESIGN.md"],
      swiftSettings: swiftSettings),
    .target(
      name: "SharedTableOperations", dependencies: ["SharedTable"], exclude: ["DESIGN.md"],
      swiftSettings: swiftSettings),
    .target(
      name: "ShmdCore",
      dependencies: [
        "SharedTable", "TableEngine", "SharedMemory",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "Yams", package: "Yams"),
      ],
      exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "shmd",
      dependencies: ["ShmdCore", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "shmd-test-worker", dependencies: ["SharedTable"], path: "Tests/Workers/shmd-test-worker",
      swiftSettings: testSettings),
    .testTarget(
      name: "ShmdTests",
      dependencies: ["ShmdCore", "SharedTable", "SharedMemory", "TestSupport", "shmd", "shmd-test-worker"],
      swiftSettings: testSettings),
    .executableTarget(
      name: "growth-probe", dependencies: ["SharedTable"], path: "Tests/Workers/growth-probe",
      swiftSettings: swiftSettings),
    .testTarget(
      name: "SharedTableTests", dependencies: ["TableEngine", "SharedTable", "SharedTableFoundation"],
      swiftSettings: swiftSettings),
    .target(name: "CSanitize", path: "Tests/Sanitize/CSanitize"),
    .target(
      name: "TestSupport", dependencies: ["CShims", "CSanitize", "SharedMemory"], path: "Tests/TestSupport",
      swiftSettings: testSettings),
    .target(
      name: "TableTestSupport", dependencies: ["SharedMemory", "SharedTable", "TestSupport"],
      path: "Tests/TableTestSupport", swiftSettings: testSettings),
    .executableTarget(
      name: "shm-test-worker", dependencies: ["CShims", "SharedMemory"], path: "Tests/Workers/shm-test-worker",
      swiftSettings: testSettings),
    .testTarget(
      name: "SharedMemoryTests", dependencies: ["CShims", "SharedMemory", "TestSupport", "shm-test-worker"],
      swiftSettings: testSettings),
    .executableTarget(
      name: "readme-example", dependencies: ["SharedTable"], path: "Tests/Workers/readme-example",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "readme-queues", dependencies: ["SharedTable"], path: "Tests/Workers/readme-queues",
      swiftSettings: testSettings),
    .executableTarget(
      name: "document-manager", dependencies: ["SharedTable"], path: "Examples/document-manager",
      swiftSettings: testSettings),
    .executableTarget(
      name: "session-cache", dependencies: ["SharedTable"], path: "Examples/session-cache", swiftSettings: testSettings),
    .testTarget(
      name: "ExampleTests", dependencies: ["SharedTable", "TestSupport", "document-manager", "session-cache"],
      swiftSettings: testSettings),
    .executableTarget(
      name: "count-instructions", dependencies: ["SharedTable"], path: "Reliability/Instructions/count-instructions",
      swiftSettings: swiftSettings),
    .target(name: "CFloor", dependencies: ["CShims"], path: "Tests/Floor/CFloor"),
    .executableTarget(
      name: "get-floor", dependencies: ["SharedTable", "CFloor"], path: "Tests/Floor/get-floor",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "table-worker", dependencies: ["SharedMemory", "SharedTable", "TestSupport"],
      path: "Tests/Workers/table-worker",
      swiftSettings: testSettings),
    .testTarget(
      name: "ConformanceTests", dependencies: ["SharedTable", "TableTestSupport", "TestSupport", "table-worker"],
      swiftSettings: testSettings),
    .testTarget(
      name: "AccessTests", dependencies: ["SharedTable", "TableTestSupport", "TestSupport", "table-worker"],
      swiftSettings: testSettings),
    .testTarget(
      name: "CrashTests", dependencies: ["SharedTable", "TableTestSupport", "TestSupport", "table-worker"],
      swiftSettings: testSettings),
    .testTarget(
      name: "EventTests",
      dependencies: [
        "CShims", "SharedMemory", "TableEngine", "SharedTable", "TableTestSupport", "TestSupport", "table-worker",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "QueueTests",
      dependencies: ["SharedTable", "SharedTableOperations", "TableTestSupport", "TestSupport", "table-worker"],
      swiftSettings: testSettings),
    .testTarget(
      name: "CollectionTests",
      dependencies: [
        "SharedTable", "SharedTableFoundation", "TableEngine", "TableTestSupport", "TestSupport", "table-worker",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "CacheTests",
      dependencies: ["TableEngine", "SharedTable", "TableTestSupport", "TestSupport", "table-worker"],
      swiftSettings: testSettings),
    .target(name: "CTrace", path: "Tests/Torture/CTrace"),
    .target(
      name: "History", dependencies: ["TestSupport"], path: "Tests/Torture/History", swiftSettings: testSettings),
    .testTarget(name: "HistoryTests", dependencies: ["History", "TestSupport"], swiftSettings: testSettings),
    .executableTarget(
      name: "torture",
      dependencies: [
        "CTrace", "CShims", "SharedMemory", "TableEngine", "SharedTable", "TestSupport", "History",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Torture/torture", swiftSettings: testSettings),
    .executableTarget(
      name: "shmctl",
      dependencies: ["SharedTable", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "shm-demo", dependencies: ["SharedTable"], exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
    .testTarget(
      name: "ShmctlTests", dependencies: ["shmctl", "SharedTable", "TableEngine"], swiftSettings: swiftSettings),
  ]
)

if fuzzes {
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: ["CShims", "SharedMemory", "TableEngine", "SharedTable", "TestSupport"],
      path: "Tests/Fuzz/fuzz", swiftSettings: testSettings + [.enableExperimentalFeature("Extern")],
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]))
}

// A sanitizer's build leaves out what it has nothing to say about: the programs and their tests, which are processes
// of their own and stand on the same library.
if Context.environment["SHAREDTABLE_SANITIZE"] != nil {
  let leftOut = [
    "ShmdCore", "shmd", "shmd-test-worker", "ShmdTests", "shmctl", "ShmctlTests", "shm-demo", "readme-example",
    "readme-queues",
    "growth-probe", "get-floor", "CFloor", "count-instructions", "document-manager", "session-cache", "ExampleTests",
  ]
  package.targets.removeAll { leftOut.contains($0.name) }
  package.products.removeAll { leftOut.contains($0.name) }
}
