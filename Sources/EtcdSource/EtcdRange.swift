#if Etcd
  import EtcdMessages
  import FoundationEssentials

  /// The keys below a prefix, as etcd takes them: all that begin with it and are longer.
  struct EtcdRange {
    let start: Data
    let end: Data

    init(prefix: [UInt8]) {
      // What follows the prefix itself in the order of the keys.
      start = Data(prefix + [0])
      // What follows all keys that begin with it: the prefix up to its last byte below 0xff, which is one higher. Where there is no such
      // byte nothing follows them: a zero byte says so to etcd.
      let kept = prefix[..<(prefix.lastIndex { $0 != 0xff }.map { $0 + 1 } ?? 0)]
      end = kept.isEmpty ? Self.unbounded : Data(kept.dropLast() + [kept.last! + 1])
    }

    /// The end of a range that takes all from its start on.
    private static let unbounded = Data([0])

    /// What follows a key.
    static func next(_ key: [UInt8]) -> Data { Data(key + [0]) }

    /// The parts of the range between keys of it, which are in their order: together all of it but these keys.
    func between(_ keys: [[UInt8]]) -> [(start: Data, end: Data)] {
      let parts = Array(zip([start] + keys.map(Self.next), keys.map { Data($0) } + [end]))
      // A last part without an end is not empty, though all of the store begins at the zero byte, too.
      return parts.enumerated().filter { index, part in
        part.0 != part.1 || index == keys.count && part.1 == Self.unbounded
      }.map(\.element)
    }
  }
#endif
