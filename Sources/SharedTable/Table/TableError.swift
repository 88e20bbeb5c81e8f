import Glibc
import SharedMemory
public import TableEngine

/// What went wrong with a table, to which one, and what to do about it.
///
/// `code` is for programs, `description` one sentence for people.
public struct TableError: Error, Sendable {
  /// What kind of thing went wrong; raw values are the names.
  public enum Code: String, Sendable, CaseIterable {
    /// There is no table of that name.
    case noSuchTable
    /// There is one already.
    case exists
    /// Under the name lies an object of a user whom this process does not trust. ``TableError/owner`` says whose.
    case foreign
    /// The system's rights, or the PID namespace, forbid it; of a write to a mirrored store, shmd or that store do.
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
    /// A part of an accessor belongs to another table than the one it was to run on. Nothing changed.
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

  /// For programs.
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
      _ code: Code, _ table: String, _ message: String, _ errno: Int32?, _ holder: Holder?, _ owner: Table.Owner?,
      isReclaimable: Bool = false
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
    contents = Contents(code, table, message, errno, holder, owner)
  }

  private init(_ contents: Contents) { self.contents = contents }
}

extension TableError: CustomStringConvertible {
  /// One sentence for people.
  public var description: String { "table '\(table)': \(message)" }
}

extension TableError {
  /// Gives an engine's error its table and its advice.
  @usableFromInline
  package init(_ error: EngineError, table: String) {
    switch error {
    case .full(let shortage):
      self.init(full: shortage, table: table)
    case .keyLength(let count):
      self.init(
        count == 0 ? .invalid : .tooLarge, table: table,
        count == 0
          ? "a key needs at least 1 byte"
          : "the key has \(count) bytes; at most \(Table.keyLengths.upperBound) are allowed")
    case .valueTooLarge(let count, let maximum):
      self.init(
        .tooLarge, table: table,
        "the value has \(count) bytes; this table takes at most \(maximum) (a quarter of its capacity)")
    case .timedOut(let holder):
      self.init(
        .timedOut, table: table, "timed out waiting\(Self.naming(holder)); try again or allow more time",
        holder: holder)
    case .wouldDeadlock(let outer):
      self.init(
        .wouldDeadlock, table: table,
        "this thread is already in a \(outer) of the table; use that section's view or transaction instead")
    case .notClaimed(let key):
      self.init(
        .invalid, table: table,
        "key '\(key)' is not among those of this barrier; name it in 'keys', or use a barrier of the whole table")
    case .tooManyKeys(let count, let maximum):
      self.init(
        .invalid, table: table,
        "a barrier locks at most \(maximum) keys, with those above them, and these are \(count) at least; name a key above them, or use a "
          + "barrier of the whole table")
    case .snapshotTooOld:
      self.init(
        .snapshotTooOld, table: table, "the snapshot's versions may have been reused; take a new snapshot")
    case .busy(let attempts):
      self.init(
        .busy, table: table,
        "a writer came between in each of \(attempts) attempts to read; try again, or take part instead of observing")
    case .damaged(let what):
      self.init(.damaged, table: table, "damaged: \(what); 'shmctl repair \(table)', or drop it and create it anew")
    case .incompatible(let what):
      self.init(.incompatible, table: table, "incompatible: \(what); use the same release everywhere")
    case .notATable(let what):
      self.init(.notATable, table: table, "not a table: \(what); remove it or choose another name")
    case .noSuchTable:
      self.init(
        .noSuchTable, table: table, "no such table; create it with 'shmctl create \(table)' or in shmd's configuration")
    case .exists:
      self.init(.exists, table: table, "exists already; open it, or drop it first")
    case .foreign(let object):
      self.init(
        .foreign, table: table,
        "foreign: \(object), whom this process does not trust; let its owner or root drop it, choose another name, or name "
          + "the owner in 'trusting:' ('shmctl --trust')", owner: object.owner)
    case .notPermitted(let why):
      self.init(.notPermitted, table: table, "not permitted: \(why)")
    case .refused(let error, let object):
      let whose = object.map { "; \($0): ask them, or root" } ?? ""
      self.init(
        .notPermitted, table: table, "not permitted: the system refused: \(error)\(whose)", errno: error.errno,
        owner: object?.owner)
    case .forked:
      self.init(.forked, table: table, "the process was forked since the table was opened; open it again in the child")
    case .unlinked:
      self.init(.unlinked, table: table, "its name was removed or taken by another table; open it again")
    case .slotsExhausted(let count):
      self.init(
        .slotsExhausted, table: table,
        "all \(count) reader slots belong to living threads and snapshots; use fewer of both, or observe")
    case .notDurable(let gap):
      self.init(notDurable: gap, table: table)
    case .mirrored:
      self.init(
        .mirrored, table: table, "it mirrors another store, and what is written there comes here; write to that store")
    case .unsupported(let what, let instead):
      self.init(.unsupported, table: table, "\(what) is not supported; \(instead)")
    case .system(let error):
      self.init(.system, table: table, "\(error)", errno: error.errno)
    }
  }

  /// Of a table that is being made. What the engine does not permit are the options then. That there is no such table is no news; a
  /// host without /dev/shm is.
  package init(making error: EngineError, table: String) {
    switch error {
    case .notPermitted(let why): self.init(.invalid, table: table, why)
    case .noSuchTable where !HostFile.exists("/dev/shm"):
      self.init(.system, table: table, "this host has no /dev/shm; mount a tmpfs there", errno: ENOENT)
    default: self.init(error, table: table)
    }
  }

  private init(notDurable gap: EngineError.DurabilityGap, table: String) {
    let what = "what was stored is in the table, and not known to be on the disk: "
    switch gap {
    case .noStore:
      self.init(
        .notDurable, table: table,
        what + "no store keeps this table; give it a 'durability' in shmd's configuration, or do without")
    case .failed:
      self.init(.notDurable, table: table, what + "its store has failed; see shmd's log for what to do")
    case .late(let durable):
      self.init(
        .notDurable, table: table,
        what
          + "its store had got as far as version \(durable) when the time was over; is shmd running? wait again, or allow "
          + "more time")
    }
  }

  private init(full shortage: EngineError.Shortage, table: String) {
    switch shortage {
    case .capacity:
      self.init(.full, table: table, "full: its capacity is used up; remove keys, or create it with more capacity")
    case .fileSystem:
      self.init(
        .full, table: table, "full: /dev/shm has no room left; free some, or enlarge the file system", errno: ENOSPC)
    case .fileSize:
      self.init(
        .full, table: table, "full: the process's file sizes are limited; raise RLIMIT_FSIZE (ulimit -f)",
        errno: EFBIG)
    case .addressSpace:
      self.init(
        .full, table: table,
        "full: the process's address space has no room for the table, or to copy a value; raise RLIMIT_AS (ulimit -v)")
    case .barrier:
      self.init(.full, table: table, "full: one barrier changes too much; split it into several")
    case .limbo(let holder):
      self.init(
        .full, table: table,
        "full: a reader keeps old versions beyond the limbo budget\(Self.naming(holder)); end it, or raise the budget",
        holder: holder)
    case .reclaimable(let reader):
      let what =
        reader.map { "a reader keeps old versions that would make room\(Self.naming($0)); end it, or" }
        ?? "old versions that would make room are not reclaimed yet; try again, or"
      self.init(
        Contents(
          .full, table, "full: \(what) give the table more capacity (or /dev/shm more room)", nil, reader, nil,
          isReclaimable: true))
    case .membarrier(let holder):
      self.init(
        .full, table: table,
        "full: old versions are beyond the limbo budget, and this process, denied membarrier, must leave reclaiming to others as "
          + "long as readers rely on it\(Self.naming(holder)); let another process write or maintain the table",
        holder: holder)
    }
  }

  static func naming(_ holder: Holder?) -> String {
    guard let holder else { return "" }
    let held = holder.heldNanoseconds.map { " for \($0 / 1_000_000) ms" } ?? ""
    let queue = holder.label.map { ", in a barrier of queue '\($0)'" } ?? ""
    return " (held by \(holder.command), pid \(holder.pid)\(held)\(queue))"
  }
}
