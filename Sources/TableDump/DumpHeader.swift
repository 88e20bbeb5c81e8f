public import SharedTable

/// What a dump is of.
public struct DumpHeader: Equatable, Sendable {
  /// The table's name when it was dumped.
  public var table: String
  public var variant: Table.Variant
  public var capacityBytes: Int
  /// The one version that all records are of.
  public var version: UInt64
  /// When it was taken, in nanoseconds since 1970.
  public var taken: UInt64
  /// About how many records follow: the table's count of keys. For progress; the end says how many there were.
  public var keyCount: UInt64
  /// What all keys begin with; empty: the whole table.
  public var prefix: [UInt8]

  public init(
    table: String, variant: Table.Variant, capacityBytes: Int, version: UInt64, taken: UInt64, keyCount: UInt64,
    prefix: [UInt8] = []
  ) {
    self.table = table
    self.variant = variant
    self.capacityBytes = capacityBytes
    self.version = version
    self.taken = taken
    self.keyCount = keyCount
    self.prefix = prefix
  }
}
