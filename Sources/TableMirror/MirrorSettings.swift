/// How a table mirrors.
public struct MirrorSettings: Sendable, Equatable {
  /// The type that values of the other store, which are bytes, have in the table.
  public enum ValueForm: String, Sendable, CaseIterable {
    /// What is UTF-8 is a string, everything else bytes.
    case string
    case bytes
  }

  /// Whether the table may become what another store holds: another cluster, or this one put back to an old copy.
  public enum Resync: String, Sendable, CaseIterable {
    /// No: it stays as it is, and the mirror stops.
    case never
    /// Yes: it is read anew.
    case always
  }

  public var address: MirrorAddress
  public var valueForm = ValueForm.string
  public var resync = Resync.never
  /// How often the other store is asked where it is: the age that the table says is about twice as much at best.
  public var checkInterval = Duration.seconds(1)
  public var backOff = BackOff()
  /// The path of the Unix socket at which the table's writes are taken; nil if they are not. The table says so to who would write.
  public var writesBy: String?

  public init(address: MirrorAddress) { self.address = address }
}
