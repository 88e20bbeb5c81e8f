import SharedMemory
import TableEngine

/// Tables that mirror a part of another store (`upstream` in shmd's configuration): read as any table, written over there.
extension Table {
  /// Whether the table mirrors another store. Its writes throw `mirrored` then. Never changes in a table's life.
  public var isMirror: Bool { segment.features.contains(.mirror) }

  /// What the table mirrors, and how far it is.
  public var upstream: Upstream { Upstream(table: self) }

  /// The store that a table mirrors: how far the mirror is, and writes to that store, which come back as its changes.
  ///
  /// Each write is linearizable between all hosts, and with that store's own clients. When it returns, this host's table shows it: whoever
  /// reads the table from then on, in whatever process, sees it, or what came after it. Where a thread or a process dies, the write is made
  /// or not, never by half.
  ///
  /// Writes go through shmd. It has to run, with the key `resp` in its configuration, a Unix socket there to which this user may connect,
  /// and the table among those that it serves. What they throw says whether it was written:
  ///
  /// | code | written? |
  /// |---|---|
  /// | `upstreamAway` | No: shmd does not run or does not serve the table, or the store is not followed just now. |
  /// | `timedOut` | No: others' writes took the time, or changed what this one depends on. |
  /// | `upstreamRefused`, `notPermitted`, `tooLarge`, `invalid`, `typeMismatch` | No, and not the next time either. |
  /// | `unsupported`, `unlinked`, `forked` | No: it is no mirror, or another table has its name, or a child of `fork()` has not opened it again. |
  /// | `wouldDeadlock` | No: this thread is in a section of the table. |
  /// | `upstreamUnsure` | Perhaps, or it may yet be: look before you try again. |
  /// | `upstreamLate` | Yes, and this host's table does not show it yet. |
  public struct Upstream: Sendable {
    let table: Table

    /// The one key of a mirror that is not the other store's: what ``UpstreamStatus`` is read from. Names of values and collections
    /// have no number sign.
    public static let key = "#upstream"

    /// How far the mirror is, as of the newest version. Blocks as a `get` does, and costs what that costs.
    /// - Returns: nil before the mirror began, and of a table that is no mirror.
    /// - Throws: `damaged` if the table says something else under the key; what `get` throws.
    public func status() throws(TableError) -> UpstreamStatus? {
      guard table.isMirror else { return nil }
      return try Self.status(of: try table.get(Self.key, as: String.self), table)
    }

    /// How old what the table shows may be, at most; nil if it never was whole, or is no mirror. Blocks as a `get` does.
    ///
    /// It is counted from the last moment of which this host knows that everything that had been written over there was here. While the
    /// mirror follows that is about three times its `check`, which is a second by default, and no less than a second if only other parts of
    /// the store change.
    /// - Throws: as ``status()``.
    public var lag: Duration? {
      get throws(TableError) { try status()?.lag(now: table.clock.now, monotonic: HostClock.monotonicNanoseconds) }
    }

    /// What a section sees: the status that belongs to the contents that it sees. Nil, and throws, as ``status()``.
    package func status(in view: borrowing ReadView) throws(TableError) -> UpstreamStatus? {
      guard table.isMirror else { return nil }
      return try Self.status(of: try view.get(Self.key, as: String.self), table)
    }

    private static func status(of text: String?, _ table: Table) throws(TableError) -> UpstreamStatus? {
      guard let text else { return nil }
      guard let status = UpstreamStatus(text: text) else {
        throw TableError(
          .damaged, table: table.name,
          "damaged: its key '\(key)' does not say how far the mirror is; drop the table, and shmd makes it anew"
        )
      }
      return status
    }
  }
}
