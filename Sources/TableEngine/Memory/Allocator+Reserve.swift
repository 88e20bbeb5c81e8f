import CShims

/// The reserve: the last superframes of the last unit that there is. Those at the end are for tombstones alone, and those before them for values that
/// take another's place, until the table grows. Without them neither a full table nor one in a full file system could delete, or replace a value.
extension Allocator {
  /// What a block is for. It decides which part of the reserve the block may come from.
  enum Purpose {
    case anything
    /// A value that takes the place of one that is no smaller.
    case replacement
    case tombstone
  }

  /// The last superframes of the last unit: those for replacements, and behind them those for tombstones. Each part has room for a
  /// tombstone of the longest key, or for a value of 64 KiB.
  static let reservedSuperframes = 2 * SHM_RESERVED_SUPERFRAMES

  /// Where the reserve begins; counted over all units.
  var firstReservedSuperframe: Int { unitCount &* Geometry.superframesPerUnit &- Self.reservedSuperframes }

  /// The least block that the reserve can have.
  var reserveStart: BlockRef {
    BlockRef(offset: geometry.unitsOffset &+ firstReservedSuperframe &* SizeClasses.slabBytes, code: 0)
  }

  /// The superframes of a unit that a search may look at, as bits.
  func usableSuperframes(_ unit: Int, _ purpose: Purpose) -> UInt64 {
    if unit != unitCount - 1 { return .max }
    switch purpose {
    case .anything: return .max >> UInt64(Self.reservedSuperframes)
    case .replacement: return .max >> UInt64(SHM_RESERVED_SUPERFRAMES)
    case .tombstone: return ~(Self.forReplacements)
    }
  }

  private static let forReplacements: UInt64 =
    .max << UInt64(Geometry.superframesPerUnit - reservedSuperframes) & .max >> UInt64(SHM_RESERVED_SUPERFRAMES)

  /// The frames of the last unit that are reserved for replacements.
  var framesForReplacements: Range<Int> {
    let end = unitCount * Geometry.superframesPerUnit - SHM_RESERVED_SUPERFRAMES
    return (end - SHM_RESERVED_SUPERFRAMES) * Geometry.framesPerSuperframe..<end * Geometry.framesPerSuperframe
  }
}
