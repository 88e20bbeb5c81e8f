extension Table {
  /// What must hold for a write to happen.
  public enum Condition: Sendable, Equatable {
    /// Nothing: the write always happens.
    case always
    /// The key is absent or expired.
    case absent
    /// The key is present.
    case present
    /// The key's value is of exactly this version, as ``TableEntry/version`` gave it: so nobody has changed it since.
    /// No value is of version 0, as which a barrier that others may share shows what it has stored itself.
    case version(UInt64)
  }
}
