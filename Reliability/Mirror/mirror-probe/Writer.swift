#if Etcd
  import SharedMemory
  import TableMirror
  import TestSupport
  import UpstreamWrites

  /// How many keys there are, and how often one of them is stored.
  struct Load {
    let keys: Int
    /// A second.
    let rate: Int
    let seconds: Int
  }

  /// Stores keys, several calls at a time.
  struct Writer {
    private let session: any MirrorSession
    private static let mostAtOnce = 256
    private static let keysAtOnce = 100

    init(_ session: any MirrorSession) { self.session = session }

    static func name(_ number: Int) -> [UInt8] { Array("k\(10_000_000 + number)".utf8) }

    private func commit(_ changes: [[UInt8]: [UInt8]?]) async throws {
      var commit = UpstreamCommit(at: 1)
      commit.changes = changes
      _ = try await session.commit(commit, timeout: .seconds(5))
    }

    /// Stores keys with values of 16 bytes, a hundred in each transaction.
    func fill(_ count: Int) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        var underWay = 0
        for start in stride(from: 0, to: count, by: Self.keysAtOnce) {
          if underWay == 16 { try await group.next() } else { underWay += 1 }
          group.addTask {
            let names = (start..<min(start + Self.keysAtOnce, count)).map { Self.name($0) }
            try await commit(Dictionary(uniqueKeysWithValues: names.map { ($0, [UInt8](repeating: 0x30, count: 16)) }))
          }
        }
        try await group.waitForAll()
      }
    }

    /// Stores the moment of each store's issue, at an even pace whatever the answers take.
    func write(_ load: Load) async throws {
      var random = SplitMix(seed: 1)
      let begin = ContinuousClock.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        var underWay = 0
        for number in 0..<load.rate * load.seconds {
          try await Task.sleep(until: begin + .nanoseconds(number * 1_000_000_000 / load.rate))
          if underWay == Self.mostAtOnce { try await group.next() } else { underWay += 1 }
          let key = Self.name(random.below(load.keys))
          group.addTask { try await commit([key: Array("\(HostClock.monotonicNanoseconds)".utf8)]) }
        }
        try await group.waitForAll()
      }
      let took = ContinuousClock.now - begin
      Role.say("wrote \(load.rate * load.seconds) \(took / .seconds(1))")
    }
  }
#endif
