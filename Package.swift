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

func wants(_ variable: String) -> Bool { Context.environment[variable] != nil }

/// The product SharedTableMetrics is empty, and its dependencies are not fetched, unless a package asks for the trait.
let withMetrics: TargetDependencyCondition = .when(traits: ["Metrics"])!

/// Build with libFuzzer and the address sanitizer, and the program `fuzz` with it (Reliability/Fuzz/run.sh).
let fuzzes = wants("SHAREDTABLE_FUZZ")
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

// The library, from the bottom up: a module imports from those above it in this list, never the other way round.
let library: [Target] = [
  // C: atomics with their order in the name, system calls, locks, the hash, wrappers of liburcu.
  .target(
    name: "CShims", path: "CShims", exclude: ["DESIGN.md"], cSettings: fuzzedC,
    linkerSettings: [.linkedLibrary("urcu-bp"), .linkedLibrary("urcu-common")]),
  // Typed system calls: shared objects, mappings, robust mutexes, futex events, clocks.
  .target(
    name: "SharedMemory", dependencies: ["CShims"], exclude: ["DESIGN.md"], swiftSettings: swiftSettings + fuzzed),
  // The untyped table: layout, allocator, index, readers, barriers, recovery, change log.
  .target(
    name: "TableEngine", dependencies: ["CShims", "SharedMemory"], exclude: ["DESIGN.md"],
    swiftSettings: swiftSettings + fuzzed),
  // The typed API.
  .target(
    name: "SharedTable", dependencies: ["CShims", "SharedMemory", "TableEngine"], exclude: ["DESIGN.md"],
    swiftSettings: swiftSettings + fuzzed),
  // Codable values.
  .target(
    name: "SharedTableFoundation", dependencies: ["SharedTable"], exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // Barriers and reads as Foundation's operations.
  .target(
    name: "SharedTableOperations", dependencies: ["SharedTable"], exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // Values as observable objects.
  .target(
    name: "SharedTableObservation", dependencies: ["SharedTable"], exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // Tables for tests: a trait of Swift Testing.
  .target(
    name: "SharedTableTesting", dependencies: ["SharedMemory", "SharedTable"], exclude: ["DESIGN.md"],
    swiftSettings: swiftSettings),
]

/// What only the trait `Etcd` needs: without it nothing of this is fetched or built.
enum EtcdPackages {
  static let condition = TargetDependencyCondition.when(traits: ["Etcd"])
  static let messages: [Target.Dependency] = [
    .product(name: "GRPCCore", package: "grpc-swift-2", condition: condition),
    .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf", condition: condition),
    .product(name: "SwiftProtobuf", package: "swift-protobuf", condition: condition),
  ]
  static let client: [Target.Dependency] =
    messages + [
      .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport", condition: condition)
    ]
}

let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
]

let programs: [Target] = [
  // Debian's libyaml.
  .systemLibrary(name: "CLibYAML", providers: [.apt(["libyaml-dev"])]),
  // Forms that people type and read: sizes, spans of time, JSON.
  .target(name: "ToolSupport", dependencies: ["SharedMemory"], exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // Tables' figures in the text format of Prometheus.
  .target(
    name: "TableMetrics", dependencies: ["SharedTable", "ToolSupport"], exclude: ["DESIGN.md"],
    swiftSettings: swiftSettings),
  // A product of its own: tables' figures for swift-metrics, sections as spans of swift-distributed-tracing.
  .target(
    name: "SharedTableMetrics",
    dependencies: [
      "SharedTable", "TableMetrics", .product(name: "Metrics", package: "swift-metrics", condition: withMetrics),
      .product(name: "Tracing", package: "swift-distributed-tracing", condition: withMetrics),
    ],
    exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // Tables as files: the dump's binary form and its JSON lines.
  .target(
    name: "TableDump", dependencies: ["CShims", "TableEngine", "SharedTable", "ToolSupport"], exclude: ["DESIGN.md"],
    swiftSettings: swiftSettings),
  // SQLite, as the system has it.
  .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
  // What outlives the host: one SQLite file a table, a follower that keeps it, tables made anew from it.
  .target(
    name: "TableStore", dependencies: ["CShims", "CSQLite", "SharedMemory", "TableEngine", "SharedTable"],
    exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // What a write to a mirrored table asks of the store that it mirrors.
  .target(name: "UpstreamWrites", exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // What a server of this host listens on.
  .target(
    name: "HostSockets", dependencies: ["SharedMemory"] + nio, exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // Tables for Redis' clients: protocol, commands, sockets.
  .target(
    name: "RESPServer",
    dependencies: ["HostSockets", "SharedMemory", "SharedTable", "ToolSupport", "UpstreamWrites"] + nio,
    exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // Pages over HTTP: figures for Prometheus, health, the status page.
  .target(
    name: "StatusServer",
    dependencies: ["HostSockets", .product(name: "NIOHTTP1", package: "swift-nio")] + nio,
    exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // What keeps a table like a part of another store: the loop, the source that it asks, the barriers that it makes.
  .target(
    name: "TableMirror", dependencies: ["SharedMemory", "TableEngine", "SharedTable", "ToolSupport", "UpstreamWrites"],
    exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // The command.
  .executableTarget(
    name: "shmctl",
    dependencies: [
      "SharedMemory", "SharedTable", "TableDump", "TableMetrics", "TableMirror", "ToolSupport",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // etcd's messages, generated (scripts/etcd-protocol.sh). Empty without the trait `Etcd`, as the next.
  .target(
    name: "EtcdMessages", dependencies: EtcdPackages.messages, exclude: ["DESIGN.md", "Protocol"],
    swiftSettings: [.swiftLanguageMode(.v6)]),
  // etcd as a mirror's source.
  .target(
    name: "EtcdSource",
    dependencies: ["EtcdMessages", "TableMirror", "ToolSupport", "UpstreamWrites"] + EtcdPackages.client,
    exclude: ["DESIGN.md"],
    swiftSettings: swiftSettings),
  // The daemon's parts.
  .target(
    name: "ShmdCore",
    dependencies: [
      "SharedTable", "TableEngine", "SharedMemory", "TableMetrics", "TableMirror", "EtcdSource", "TableStore",
      "HostSockets", "RESPServer", "StatusServer", "ToolSupport", "UpstreamWrites", "CLibYAML",
      .product(name: "Logging", package: "swift-log"),
      .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      .product(name: "UnixSignals", package: "swift-service-lifecycle"),
    ],
    exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // The daemon that maintains tables.
  .executableTarget(
    name: "shmd", dependencies: ["ShmdCore", .product(name: "ArgumentParser", package: "swift-argument-parser")],
    exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // Shows the table at work (`make demo`).
  .executableTarget(
    name: "shm-demo", dependencies: ["SharedTable"], exclude: ["DESIGN.md"], swiftSettings: swiftSettings),
  // Examples/
  .executableTarget(
    name: "document-manager", dependencies: ["SharedTable"], path: "Examples/document-manager",
    swiftSettings: testSettings),
  .executableTarget(
    name: "session-cache", dependencies: ["SharedTable"], path: "Examples/session-cache", swiftSettings: testSettings),
]

let testSupport: [Target] = [
  // A disk for SQLite that loses power, fails, fills up, or kills its process at a chosen moment.
  .target(name: "CFaultyDisk", dependencies: ["CSQLite"], path: "Tests/CFaultyDisk"),
  // A process that keeps a store and is killed.
  .executableTarget(
    name: "store-worker", dependencies: ["CFaultyDisk", "SharedTable", "TableStore"],
    path: "Tests/Workers/store-worker", swiftSettings: testSettings),
  // Tells the thread sanitizer of locks that lie in code that it cannot see.
  .target(name: "CSanitize", path: "Tests/Sanitize/CSanitize"),
  // Worker processes that are told what to do by pipes, names, seeded randomness.
  .target(
    name: "TestSupport", dependencies: ["CShims", "CSanitize", "SharedMemory"], path: "Tests/TestSupport",
    swiftSettings: testSettings),
  // The same for tests that use tables.
  .target(
    name: "TableTestSupport", dependencies: ["CShims", "SharedMemory", "SharedTable", "TableEngine", "TestSupport"],
    path: "Tests/TableTestSupport", swiftSettings: testSettings),
  // Checks histories of operations for linearizability.
  .target(
    name: "History", dependencies: ["TestSupport"], path: "Reliability/Torture/History", swiftSettings: testSettings),
  // The worker processes.
  .executableTarget(
    name: "shm-test-worker", dependencies: ["CShims", "SharedMemory"], path: "Tests/Workers/shm-test-worker",
    swiftSettings: testSettings),
  .executableTarget(
    name: "table-worker", dependencies: ["SharedMemory", "SharedTable", "TestSupport"],
    path: "Tests/Workers/table-worker", swiftSettings: testSettings),
  .executableTarget(
    name: "shmd-test-worker", dependencies: ["SharedTable"], path: "Tests/Workers/shmd-test-worker",
    swiftSettings: testSettings),
  // The README's examples: what it shows is compiled.
  .executableTarget(
    name: "readme-example", dependencies: ["SharedTable"], path: "Tests/Workers/readme-example",
    swiftSettings: swiftSettings),
  .executableTarget(
    name: "readme-queues", dependencies: ["SharedTable"], path: "Tests/Workers/readme-queues",
    swiftSettings: testSettings),
]

// In the order of what they test.
let tests: [Target] = [
  // The checker of histories.
  .testTarget(
    name: "HistoryTests", dependencies: ["History", "TestSupport"], path: "Reliability/Torture/HistoryTests",
    swiftSettings: testSettings),
  // Locks, events, objects, between processes.
  .testTarget(
    name: "SharedMemoryTests", dependencies: ["CShims", "SharedMemory", "TestSupport", "shm-test-worker"],
    swiftSettings: testSettings),
  // The engine without the typed API: size classes, journal, change log, damaged contents.
  .testTarget(
    name: "TableEngineTests",
    dependencies: [
      "CShims", "SharedMemory", "TableEngine", "SharedTable", "TableTestSupport", "TestSupport", "table-worker",
    ],
    swiftSettings: testSettings),
  // The typed API in one process.
  .testTarget(
    name: "SharedTableTests",
    dependencies: ["SharedTable", "SharedTableFoundation", "TableEngine", "TableTestSupport", "TestSupport"],
    swiftSettings: swiftSettings),
  // What holds for both variants, for participants and for observers.
  .testTarget(
    name: "ConformanceTests",
    dependencies: ["CShims", "SharedTable", "TableEngine", "TableTestSupport", "TestSupport", "table-worker"],
    swiftSettings: testSettings),
  // Processes that die, and random operations of several against a model.
  .testTarget(
    name: "CrashTests", dependencies: ["SharedTable", "TableTestSupport", "TestSupport", "table-worker"],
    swiftSettings: testSettings),
  // `Guarded` and its accessors.
  .testTarget(
    name: "AccessTests",
    dependencies: [
      "SharedTable", "SharedTableFoundation", "TableEngine", "TableTestSupport", "TestSupport", "table-worker",
    ],
    swiftSettings: testSettings),
  // The trait that gives tests tables.
  .testTarget(
    name: "SharedTableTestingTests",
    dependencies: [
      "SharedMemory", "SharedTable", "SharedTableTesting", "TableTestSupport", "TestSupport", "table-worker",
    ],
    swiftSettings: testSettings),
  // Waiting for changes, streams of them, and observable values.
  .testTarget(
    name: "EventTests",
    dependencies: ["SharedTable", "SharedTableObservation", "TableTestSupport", "TestSupport", "table-worker"],
    swiftSettings: testSettings),
  // Barrier queues and operations.
  .testTarget(
    name: "QueueTests",
    dependencies: [
      "SharedTable", "SharedTableFoundation", "SharedTableOperations", "TableTestSupport", "TestSupport",
      "table-worker",
    ],
    swiftSettings: testSettings),
  // The pages of the documentation: what they show is compiled, and does what they say.
  .testTarget(
    name: "DocumentationTests",
    dependencies: [
      "SharedTable", "SharedTableFoundation", "SharedTableObservation", "SharedTableTesting", "TableTestSupport",
      "TestSupport",
    ],
    swiftSettings: testSettings),
  // Values, dictionaries, sets and arrays.
  .testTarget(
    name: "CollectionTests",
    dependencies: [
      "SharedTable", "SharedTableFoundation", "TableEngine", "TableTestSupport", "TestSupport", "table-worker",
    ],
    swiftSettings: testSettings),
  // Caches and values that are computed once.
  .testTarget(
    name: "CacheTests",
    dependencies: ["TableEngine", "SharedTable", "TableTestSupport", "TestSupport", "table-worker"],
    swiftSettings: testSettings),
]

// Tests of programs.
let programTests: [Target] = [
  // Dumps: round trips, golden files of every version, damage.
  .testTarget(
    name: "TableDumpTests", dependencies: ["TableDump", "TableEngine", "SharedTable", "ToolSupport"],
    exclude: ["Golden"], swiftSettings: testSettings),
  // Stores: restores, faults of the disk, power cuts.
  .testTarget(
    name: "TableStoreTests",
    dependencies: [
      "CFaultyDisk", "CSQLite", "SharedTable", "TableEngine", "TableStore", "TableTestSupport", "TestSupport",
      "store-worker",
    ], swiftSettings: testSettings),
  // Mirrors, of a store in memory: what becomes of a table whatever the store does.
  .testTarget(
    name: "TableMirrorTests",
    dependencies: [
      "RESPServer", "SharedMemory", "SharedTable", "TableEngine", "TableMirror", "TableTestSupport", "TestSupport",
      "UpstreamWrites",
    ], swiftSettings: testSettings),
  .testTarget(
    name: "ShmctlTests",
    dependencies: [
      "shmctl", "shmd", "SharedTable", "TableDump", "TableEngine", "TableTestSupport", "ToolSupport", "TestSupport",
      "table-worker",
    ],
    swiftSettings: swiftSettings),
  .testTarget(
    name: "TableMetricsTests",
    dependencies: ["TableMetrics", "SharedTable", "TableTestSupport", "TestSupport", "table-worker"],
    swiftSettings: testSettings),
  .testTarget(
    name: "SharedTableMetricsTests",
    dependencies: [
      "SharedTable", "SharedTableMetrics", "TableTestSupport", "TestSupport",
      .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: withMetrics),
      .product(name: "Metrics", package: "swift-metrics", condition: withMetrics),
      .product(name: "MetricsTestKit", package: "swift-metrics", condition: withMetrics),
      .product(name: "Tracing", package: "swift-distributed-tracing", condition: withMetrics),
    ],
    swiftSettings: testSettings),
  .testTarget(
    name: "RESPServerTests",
    dependencies: ["RESPServer", "SharedTable", "TableEngine", "TableTestSupport", "TestSupport", "table-worker"],
    swiftSettings: testSettings),
  .testTarget(
    name: "ShmdTests",
    dependencies: [
      "ShmdCore", "HostSockets", "RESPServer", "SharedTable", "SharedMemory", "StatusServer", "TableMirror",
      "TableStore",
      "TestSupport", "shmctl", "shmd", "shmd-test-worker",
    ],
    swiftSettings: testSettings),
  .testTarget(
    name: "ExampleTests", dependencies: ["SharedTable", "TestSupport", "document-manager", "session-cache"],
    swiftSettings: testSettings),
]

/// A real etcd beside what mirrors it (`make etcd-sample`, `make etcd-test`). In the manifest, and then without other tests, if the
/// environment asks for it.
let etcdTests: [Target] = [
  .testTarget(
    name: "EtcdSourceTests",
    dependencies: [
      "EtcdMessages", "EtcdSource", "History", "SharedMemory", "SharedTable", "ShmdCore", "TableMirror", "TestSupport",
      "UpstreamWrites", "shmctl", "shmd",
    ] + EtcdPackages.client, swiftSettings: testSettings)
]

/// What mirroring costs (`make mirror-bench`, `make mirror-crowd`).
let etcdProbes: [Target] = [
  .executableTarget(
    name: "mirror-probe",
    dependencies: ["EtcdSource", "SharedMemory", "SharedTable", "TableMirror", "TestSupport", "UpstreamWrites"],
    path: "Reliability/Mirror/mirror-probe", swiftSettings: swiftSettings)
]

/// `Reliability/`: what users do not build (Reliability/README.md). In the manifest if the environment asks for it.
let reliability: [Target] = [
  // Follows a process instruction by instruction.
  .target(name: "CTrace", path: "Reliability/Torture/CTrace"),
  // Kills, stops, damages and exhausts.
  .executableTarget(
    name: "torture",
    dependencies: [
      "CTrace", "CShims", "SharedMemory", "TableEngine", "SharedTable", "TestSupport", "History",
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
    path: "Reliability/Torture/torture", swiftSettings: testSettings),
]

/// What measures a release build.
let probes: [Target] = [
  // The work of the worst write while a table grows.
  .executableTarget(
    name: "growth-probe", dependencies: ["SharedTable"], path: "Reliability/Growth/growth-probe",
    swiftSettings: swiftSettings),
  // What deleted values leave, filled again.
  .executableTarget(
    name: "room-probe", dependencies: ["SharedTable", "TestSupport"], path: "Reliability/Room/room-probe",
    swiftSettings: swiftSettings),
  // Writers beside each other.
  .executableTarget(
    name: "writers-probe", dependencies: ["SharedMemory", "SharedTable", "TestSupport"],
    path: "Reliability/Writers/writers-probe", swiftSettings: swiftSettings),
  // A lookup that synchronises with nobody, and `get` beside it.
  .target(name: "CFloor", dependencies: ["CShims"], path: "Reliability/Floor/CFloor"),
  .executableTarget(
    name: "get-floor", dependencies: ["SharedTable", "TestSupport", "CFloor"], path: "Reliability/Floor/get-floor",
    swiftSettings: swiftSettings),
  // What storing costs a writer, and how long a table takes to come back.
  .executableTarget(
    name: "store-probe", dependencies: ["SharedTable", "TableStore", "TestSupport"],
    path: "Reliability/Store/store-probe", swiftSettings: swiftSettings),
  // A lone request through SwiftNIO, with the server and without.
  .executableTarget(
    name: "resp-floor",
    dependencies: [
      "RESPServer", "SharedTable", "TestSupport", .product(name: "NIOCore", package: "swift-nio"),
      .product(name: "NIOPosix", package: "swift-nio"),
    ], path: "Reliability/RESP/resp-floor", swiftSettings: swiftSettings),
  // Single operations, for callgrind.
  .executableTarget(
    name: "count-instructions", dependencies: ["SharedTable", "TestSupport"],
    path: "Reliability/Instructions/count-instructions",
    swiftSettings: swiftSettings),
]

/// Observers and openers, under libFuzzer.
let fuzzer: [Target] = [
  .executableTarget(
    name: "fuzz", dependencies: ["CShims", "SharedMemory", "TableEngine", "SharedTable", "TestSupport"],
    path: "Reliability/Fuzz/fuzz", swiftSettings: testSettings + [.enableExperimentalFeature("Extern")],
    linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])])
]

let package = Package(
  name: "SharedTable",
  products: [
    .library(name: "SharedTable", targets: ["SharedTable"]),
    .library(name: "SharedTableFoundation", targets: ["SharedTableFoundation"]),
    .library(name: "SharedTableOperations", targets: ["SharedTableOperations"]),
    .library(name: "SharedTableObservation", targets: ["SharedTableObservation"]),
    .library(name: "SharedTableTesting", targets: ["SharedTableTesting"]),
    .library(name: "SharedTableMetrics", targets: ["SharedTableMetrics"]),
    .executable(name: "shmctl", targets: ["shmctl"]),
  ],
  traits: [
    .trait(
      name: "CheckedReads",
      description: "Builds what read sections can be checked with into a release build, as it is in debug builds."),
    .trait(
      name: "Metrics",
      description: "Fetches swift-metrics and swift-distributed-tracing, for the product SharedTableMetrics."),
    .trait(name: "Etcd", description: "Builds the daemon so that it can mirror etcd."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
  ],
  targets: library + programs + testSupport + tests + programTests
)

if wants("SHAREDTABLE_RELIABILITY") {
  package.targets += reliability + probes
}
if wants("SHAREDTABLE_ETCD") {
  let needed = ["CSanitize", "TestSupport", "History"]
  package.targets = library + programs + testSupport.filter { needed.contains($0.name) } + etcdTests + etcdProbes
}
if fuzzes {
  package.targets += fuzzer
}
// A sanitizer's build leaves out what it has nothing to say about: the programs and their tests, which are processes
// of their own and stand on the same library.
if wants("SHAREDTABLE_SANITIZE") {
  let others = ["shmd-test-worker", "readme-example", "readme-queues", "store-worker", "CFaultyDisk"]
  let workers = testSupport.filter { !others.contains($0.name) }
  package.targets = library + workers + tests + reliability
  package.products.removeAll { ["shmctl", "SharedTableMetrics"].contains($0.name) }
}
// `make metrics`: the product of the trait and its tests, without what they do not need.
if wants("SHAREDTABLE_METRICS") {
  let needed = [
    "ToolSupport", "TableMetrics", "SharedTableMetrics", "CSanitize", "TestSupport", "TableTestSupport",
    "SharedTableMetricsTests",
  ]
  package.targets = library + (programs + testSupport + programTests).filter { needed.contains($0.name) }
  package.products.removeAll { $0.name == "shmctl" }
}
