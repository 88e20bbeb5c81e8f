/// How a table is made.
public struct SegmentOptions: Sendable, Equatable {
  /// RCU or rwlock; it stays what it is made as.
  public var variant: Variant
  /// Bytes for entries and index, rounded up to whole MiB; at least 1 MiB.
  public var capacityBytes: Int
  /// Permission bits of the data object. Users who may write it may also write the control object; no others see that.
  public var mode: UInt32
  /// The user, by number, to whom the table is to belong; nil: whoever makes it.
  public var owner: UInt32?
  /// The group, by number; nil: that of whoever makes it.
  public var group: UInt32?
  /// What readers may keep from being reused, in bytes, before `stalledReaderPolicy` applies.
  public var limboBudgetBytes: Int
  /// What happens beyond.
  public var stalledReaderPolicy: StalledReaderPolicy
  /// Claim the pages of all values at creation and give none back: a later `set` never finds the file system full. Not those that a
  /// large barrier's journal takes, or the records of the versions that a long snapshot keeps.
  public var preallocate: Bool
  /// Back the table by huge pages (2 MiB) where the kernel does it, from 16 MiB on: reads of a large table miss the TLB less
  /// often. Costs whoever makes it grow some 100 µs for each 2 MiB, after the write; holds nobody up.
  public var hugePages: Bool
  /// What the table is for: a mirror, or nothing in particular.
  public var features: TableFeatures = []
  /// Overwrite blocks when they become free, in every process that uses the table: for tests, which see a use after
  /// free by it.
  package var poisonsFreedBlocks = false
  /// The seed of the hashes of keys. Random unless it is given, so that no user of a table can choose keys that collide. Given only by
  /// tests and counts, whose outcome must not depend on where the keys lie.
  package var hashSeed: UInt64?

  /// - Parameters:
  ///   - capacityBytes: the most that the table may grow to; it claims memory as it fills.
  ///   - mode: what the owner, the group and others may: read and write for the owner, at most read for others.
  ///   - limboBudgetBytes: nil = a quarter of the capacity, at least 256 KiB.
  public init(
    variant: Variant = .rcu, capacityBytes: Int = 64 << 20, mode: UInt32 = 0o600, owner: UInt32? = nil,
    group: UInt32? = nil, limboBudgetBytes: Int? = nil, stalledReaderPolicy: StalledReaderPolicy = .evict,
    preallocate: Bool = false, hugePages: Bool = true
  ) {
    self.variant = variant
    self.capacityBytes = capacityBytes
    self.mode = mode
    self.owner = owner
    self.group = group
    self.limboBudgetBytes = limboBudgetBytes ?? Self.defaultLimboBudgetBytes(capacityBytes: capacityBytes)
    self.stalledReaderPolicy = stalledReaderPolicy
    self.preallocate = preallocate
    self.hugePages = hugePages
  }

  static func defaultLimboBudgetBytes(capacityBytes: Int) -> Int { max(256 << 10, capacityBytes / 4) }

  /// - Throws: `invalid` for a mode that gives more than the protocol can keep, a capacity out of range and a limbo budget below 0.
  public func check() throws(EngineError) {
    try Segment.Rights.check(mode: mode)
    guard capacityBytes >= Geometry.minimumCapacity else {
      throw .invalid("capacity \(capacityBytes)", rule: "at least \(Geometry.minimumCapacity) bytes")
    }
    guard capacityBytes <= Geometry.maximumCapacity else {
      throw .invalid("capacity \(capacityBytes)", rule: "at most \(Geometry.maximumCapacity) bytes")
    }
    guard limboBudgetBytes >= 0 else { throw .invalid("limbo budget \(limboBudgetBytes)", rule: "at least 0 bytes") }
  }
}
