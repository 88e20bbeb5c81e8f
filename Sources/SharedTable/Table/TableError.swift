public import TableEngine

/// What went wrong with a table, to which one, and what to do about it.
///
/// `code` is for programs, `description` one sentence for people. `localizedDescription` is that sentence in programs that import
/// `SharedTableFoundation`; without it Foundation only names the type.
public struct TableError: Error, Sendable {
  /// What kind of thing went wrong; raw values are the names.
  public enum Code: String, Sendable, CaseIterable {
    /// There is no table of that name.
    case noSuchTable
    /// There is a table of that name already.
    case exists
    /// Under the name lies an object of a user whom this process does not trust. ``TableError/owner`` says whose.
    case foreign
    /// The system's rights, or the PID namespace, forbid it. A write to the store that the table follows: shmd or that store forbids it.
    case notPermitted
    /// No room: the table's capacity, /dev/shm, one barrier's journal, or a stalled reader's limbo. Nothing changed.
    case full
    /// A key or value longer than the table takes.
    case tooLarge
    /// A key of no bytes, a name with a slash, an option out of range.
    case invalid
    /// A wait lasted longer than its timeout. The message names the holder.
    case timedOut
    /// This thread's own outer section would make it wait for ever.
    case wouldDeadlock
    /// The snapshot's versions may have been reused.
    case snapshotTooOld
    /// An observer found no moment without a writer.
    case busy
    /// Another layout, variant or feature than this program's.
    case incompatible
    /// The value has another type, or its struct another layout.
    case typeMismatch
    /// An index that the array does not have, or does not have any more.
    case outOfBounds
    /// The contents contradict themselves.
    case damaged
    /// Under the name lies something that is no table.
    case notATable
    /// The table was unlinked or replaced since it was opened.
    case unlinked
    /// The process was forked since the table was opened.
    case forked
    /// A part of an accessor belongs to another table than the one it was to run on, or a value or collection to another table than the
    /// section in which it was used. Nothing changed.
    case wrongTable
    /// More threads than the table has slots.
    case slotsExhausted
    /// The variant, or the way in, does not offer it.
    case unsupported
    /// As much asynchronous work waits in a queue as it takes. Nothing was submitted.
    case queueFull
    /// The barrier is committed, but a read section that began before it has not ended in time. The message names it.
    case readersRemain
    /// The barrier, if there was one, is committed, but not known to be on the disk: no store keeps the table, the store has
    /// failed, or is late.
    case notDurable
    /// The table follows another store, to which its writes go. Nothing changed.
    case mirrored
    /// The mirror of another store is older than the reader allows.
    case behind
    /// A write cannot go to the store that the table follows just now: shmd does not run, does not serve the table, or does not follow that
    /// store. Nothing was written.
    case upstreamAway
    /// The store that the table follows, or shmd, refuses the write as it is. Nothing was written.
    case upstreamRefused
    /// The answer to a write was lost: the store that the table follows may have made it, or may yet. Look before you try again.
    case upstreamUnsure
    /// The store that the table follows has made the write, and this host's table does not show it yet.
    case upstreamLate
    /// A system call failed in a way that none of the above names.
    case system
  }

  /// The kind of error, for programs.
  public var code: Code { contents.code }
  /// The table's name; `*` where it is about none in particular.
  public var table: String { contents.table }
  /// What happened and what to do, without the table's name.
  public var message: String { contents.message }
  /// The error number behind it, if there is one.
  public var errno: Int32? { contents.errno }
  /// Who holds what was waited for, as far as known.
  public var holder: Holder? { contents.holder }
  /// Whose the object is that is in the way, as far as known.
  public var owner: Table.Owner? { contents.owner }

  /// One reference, so that a function that may throw it returns it in a register: see ``TableEngine/EngineError``.
  @usableFromInline let contents: Contents

  /// What an error says.
  @usableFromInline
  final class Contents: Sendable {
    let code: Code
    let table: String
    let message: String
    let errno: Int32?
    let holder: Holder?
    let owner: Table.Owner?
    /// It is `full`, and as much as is missing waits to be reclaimed.
    let isReclaimable: Bool

    init(
      _ code: Code, table: String, _ message: String, errno: Int32? = nil, holder: Holder? = nil,
      owner: Table.Owner? = nil, isReclaimable: Bool = false
    ) {
      self.code = code
      self.table = table
      self.message = message
      self.errno = errno
      self.holder = holder
      self.owner = owner
      self.isReclaimable = isReclaimable
    }
  }

  /// An error about a table; for those who build on this library.
  public init(
    _ code: Code, table: String, _ message: String, errno: Int32? = nil, holder: Holder? = nil,
    owner: Table.Owner? = nil
  ) {
    contents = Contents(code, table: table, message, errno: errno, holder: holder, owner: owner)
  }

  init(_ contents: Contents) { self.contents = contents }
}

extension TableError: CustomStringConvertible {
  /// One sentence for people.
  public var description: String { "table '\(table)': \(message)" }
}
