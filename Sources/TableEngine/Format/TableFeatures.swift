/// What a table is besides its layout and variant: the bits of *data*'s `features`. Chosen when it is made and never changed.
///
/// A program that does not know one of a table's bits leaves the table alone (`incompatible`): so a bit may change what writers
/// must do without a new layout.
public struct TableFeatures: OptionSet, Sendable, Hashable {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The table follows another store. Its one writer is the process that mirrors the store: see
  /// ``Segment/beginMirrorBarrier(timeoutNanoseconds:)``.
  public static let mirror = TableFeatures(rawValue: 1)

  static let known: TableFeatures = [.mirror]
}
