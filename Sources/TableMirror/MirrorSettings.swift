package import SharedTable

/// How a table mirrors.
public struct MirrorSettings: Sendable, Equatable {
  /// The type that values of the other store, which are bytes, have in the table.
  public enum ValueForm: String, Sendable, CaseIterable {
    /// What is UTF-8 is a string, everything else bytes.
    case string
    case bytes

    /// The type of a value.
    package func type(of value: UnsafeRawBufferPointer) -> ValueType {
      switch self {
      case .bytes: return .bytes
      case .string:
        let bytes = unsafe value.assumingMemoryBound(to: UInt8.self)
        return (try? unsafe UTF8Span(validating: bytes.span)) == nil ? .bytes : .string
      }
    }
  }

  /// Whether the table may become what another store holds: another cluster, or this one put back to an old copy.
  public enum Resync: String, Sendable, CaseIterable {
    /// No: it stays as it is, and the mirror stops.
    case never
    /// Yes: it is read anew.
    case always
  }

  /// What becomes of keys whose lease ends over there while nobody follows.
  public enum Leases: String, Sendable, CaseIterable {
    /// They stay until their removal comes.
    case keep
    /// They expire in the table when their lease would have ended, as last known.
    case expire
  }

  public var address: MirrorAddress
  public var valueForm = ValueForm.string
  public var resync = Resync.never
  public var leases = Leases.keep
  /// How often the other store is asked where it is: the age that the table says is about twice as much at best.
  public var checkInterval = Duration.seconds(1)
  public var backOff = BackOff()
  /// The path of the Unix socket at which the table's writes are taken; nil if they are not. The table says so to who would write.
  public var writeSocketPath: String?

  /// How much longer than its lease a key stays in the table: what is late by less is no reason to let it expire.
  var leaseGrace: Duration { checkInterval * 3 }

  public init(address: MirrorAddress) { self.address = address }
}
