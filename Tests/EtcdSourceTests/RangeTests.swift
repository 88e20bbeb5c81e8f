#if Etcd
  import FoundationEssentials
  import GRPCCore
  import TableMirror
  import Testing
  import UpstreamWrites

  @testable import EtcdSource

  /// What a commit removes over there, and what it is told of it, without a server.
  @Suite struct RangeTests {
    private static let keys: [[UInt8]] = [
      [0], [0, 0], [0, 1], [1], [97], [97, 0], [97, 98], [98], [255], [255, 0], [255, 255],
    ]

    /// As etcd reads it.
    private func isIn(_ key: [UInt8], _ range: (start: Data, end: Data)) -> Bool {
      !key.lexicographicallyPrecedes(range.start)
        && (range.end == Data([0]) || key.lexicographicallyPrecedes(range.end))
    }

    @Test(arguments: [[], [97], [255], [0]] as [[UInt8]])
    func thePartsBetweenKeysAreAllBelowThePrefixButThese(_ prefix: [UInt8]) {
      let below = Self.keys.filter { $0.count > prefix.count && $0.starts(with: prefix) }
      for mask in 0..<(1 << min(below.count, 6)) {
        let kept = below.enumerated().filter { $0.offset < 6 && mask >> $0.offset & 1 == 1 }.map(\.element)
        let parts = EtcdRange(prefix: prefix).between(kept)
        for key in Self.keys {
          let count = parts.count { isIn(key, $0) }
          #expect(count == (below.contains(key) && !kept.contains(key) ? 1 : 0), "\(prefix), \(kept): \(key)")
        }
      }
    }

    /// etcd says so before it proposes a transaction, and when it has applied one.
    @Test func noSpaceDoesNotTellWhetherACommitWasMade() {
      let full = RPCError(code: .resourceExhausted, message: "etcdserver: mvcc: database space exceeded")
      guard case .unsure = EtcdFailure.refusal(full, "peer") else {
        Issue.record("it is taken for refused")
        return
      }
      let busy = RPCError(code: .resourceExhausted, message: "etcdserver: too many requests")
      guard case .refused = EtcdFailure.refusal(busy, "peer") else {
        Issue.record("it is not taken for refused")
        return
      }
    }
  }
#endif
