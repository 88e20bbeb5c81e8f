public import SharedTable

/// All that can be said of one table in numbers, taken at about one moment.
public struct TableFigures: Sendable {
  public let table: String
  public let variant: Table.Variant
  public let isObserver: Bool
  public internal(set) var statistics: Table.Statistics

  /// Looks at the table. Blocks nobody; the work grows with the table's claimed size.
  public init(_ table: Table) {
    self.table = table.name
    variant = table.variant
    isObserver = table.isObserver
    statistics = table.statistics
  }

  /// A process that takes part, and its threads that hold a slot.
  public struct Process: Sendable {
    public let pid: Int32
    public let command: String
    public var threads = 0

    public init(pid: Int32, command: String) {
      self.pid = pid
      self.command = command
    }
  }

  /// Each process once, in the order of their first slots.
  public var processes: [Process] {
    var found: [Process] = []
    var places: [Int32: Int] = [:]
    for reader in statistics.readers {
      let pid = reader.holder.pid
      if places[pid] == nil {
        places[pid] = found.count
        found.append(Process(pid: pid, command: reader.holder.command))
      }
      if reader.purpose == .thread, let place = places[pid] { found[place].threads += 1 }
    }
    return found
  }

  /// For how long the reader is known to have been at its version: a snapshot since it was taken, another since a reclaiming process found it in the way.
  public static func age(of reader: Table.Reader) -> UInt64? {
    guard reader.version != nil else { return nil }
    return (reader.isLongSnapshot ? reader.holder.heldNanoseconds : nil) ?? reader.inTheWayNanoseconds ?? 0
  }

  /// Of the readers that are at a version just now; 0 if there are none.
  public var oldestReaderNanoseconds: UInt64 { statistics.readers.compactMap(Self.age).max() ?? 0 }

  /// How many commits the reader at the oldest version is behind.
  public var oldestReaderLag: UInt64 {
    guard let oldest = statistics.readers.compactMap(\.version).min() else { return 0 }
    // A reader may have begun at a version that came after ours was read.
    return statistics.version > oldest ? statistics.version - oldest : 0
  }

  /// Readers that have kept memory from being reused for 200 ms or longer.
  public var stalledReaders: [Table.Reader] { statistics.readers.filter(\.isStalled) }

  /// Room that is free: unclaimed in /dev/shm; superframes for anything; frames and slabs beside what is in use. None if it is not known.
  public var freeBytes: [(kind: String, bytes: Int)] {
    guard let memory = statistics.memory else { return [] }
    return [
      ("unclaimed", memory.unclaimed), ("superframes", memory.freeSuperframes), ("frames", memory.freeFrames),
      ("slabs", memory.freeInSlabs),
    ]
  }

  /// How many barriers waited how long, each bucket counting alone; nil for observers.
  ///
  /// By powers of 4 from a microsecond to a minute: 15 samples a table instead of 40. A bound is off by a nanosecond. The last
  /// one has none.
  public var barrierWaitBuckets: [(belowNanoseconds: UInt64?, count: UInt64)]? {
    guard let waits = statistics.barrierWaits else { return nil }
    var result: [(belowNanoseconds: UInt64?, count: UInt64)] = [(0, waits.none)]
    let bounds = Array(stride(from: 10, through: 36, by: 2))
    var from = 0
    for bound in bounds {
      let upTo = min(bound, waits.byLogarithm.count)
      result.append((1 << UInt64(bound), waits.byLogarithm[min(from, upTo)..<upTo].reduce(0, &+)))
      from = max(from, upTo)
    }
    result.append((nil, waits.byLogarithm[from...].reduce(0, &+)))
    return result
  }
}
