#if Etcd
  import EtcdSource
  import Glibc
  import TableMirror
  import TestSupport

  /// What one process does.
  enum Role {
    case fill(MirrorAddress, count: Int)
    case write(MirrorAddress, Load)
    case watch(MirrorAddress)
    case follow(table: String)
    case read(MirrorAddress)
    case mirror(MirrorAddress, count: Int, capacityBytes: Int)
    case simulate(hosts: Int)
    case simulateOne(hosts: Int, outageMilliseconds: Int, startingMilliseconds: Int)

    struct Failure: Error, CustomStringConvertible {
      let description: String
    }

    init(_ words: [String]) throws {
      func number(_ index: Int) throws -> Int {
        guard words.count > index, let number = Int(words[index]), number > 0 else {
          throw Failure(description: "\(words): word \(index) is no number above 0; see main.swift")
        }
        return number
      }
      guard words.count > 1 else { throw Failure(description: "what to do? see main.swift") }
      switch words[0] {
      case "fill": self = .fill(try MirrorAddress(words[1]), count: try number(2))
      case "write":
        self = .write(
          try MirrorAddress(words[1]), Load(keys: try number(2), rate: try number(3), seconds: try number(4)))
      case "watch": self = .watch(try MirrorAddress(words[1]))
      case "follow": self = .follow(table: words[1])
      case "read": self = .read(try MirrorAddress(words[1]))
      case "mirror": self = .mirror(try MirrorAddress(words[1]), count: try number(2), capacityBytes: try number(3))
      case "simulate" where words.count > 2:
        self = .simulateOne(
          hosts: try number(1), outageMilliseconds: try number(2), startingMilliseconds: try number(3))
      case "simulate": self = .simulate(hosts: try number(1))
      default: throw Failure(description: "\(words[0]): no such role; see main.swift")
      }
    }

    func run() async throws {
      switch self {
      case .fill(let address, let count): try await Self.withSession(address) { try await Writer($0).fill(count) }
      case .write(let address, let load): try await Self.withSession(address) { try await Writer($0).write(load) }
      case .watch(let address): try await Self.withSession(address) { try await Follower.watch($0) }
      case .follow(let table): try await Follower.follow(table)
      case .read(let address): try await Self.withSession(address) { try await Reader($0).readAll() }
      case .mirror(let address, let count, let capacity):
        try await Crowd(address, count: count, capacityBytes: capacity).run()
      case .simulate(let hosts): Simulation.printTable(hosts: hosts)
      case .simulateOne(let hosts, let outage, let starting):
        let simulation = Simulation(hosts: hosts, outage: Double(outage) / 1000, starting: Double(starting) / 1000)
        Self.say("back \(simulation.returnsBySecond)")
      }
    }

    private static func withSession(
      _ address: MirrorAddress, _ body: @Sendable (any MirrorSession) async throws -> Void
    ) async throws {
      try await EtcdSource(address, MirrorAccess()).withSession(0, body)
    }

    /// Prints a line at once, though a program reads it.
    static func say(_ line: String) {
      print(line)
      fflush(nil)
    }

    /// Runs a closure on a thread of its own, as it blocks.
    static func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
      let stream = AsyncStream<Void>.makeStream()
      let thread = TestThread {
        defer { stream.continuation.finish() }
        return try body()
      }
      for await _ in stream.stream {}
      return try thread.join()
    }

    /// Returns when nobody wants this process any more: its input has ended.
    static func inputEnds() async throws {
      try await onThread {
        // Not by stdio: flushing all of that waits for who reads.
        var byte: UInt8 = 0
        while unsafe Glibc.read(0, &byte, 1) > 0 {}
      }
    }
  }
#endif
