import Glibc
import SharedMemory
public import TableEngine

extension TableError {
  /// Gives an engine's error its table and its advice.
  @usableFromInline
  package init(_ error: EngineError, table: String) {
    switch error {
    case .full(let shortage): self.init(full: shortage, table: table)
    case .keyLength(let count): self.init(keyLength: count, table: table)
    case .valueTooLarge(let count, let maximum): self.init(valueLength: count, maximum: maximum, table: table)
    case .timedOut(let holder): self.init(timedOutWaitingFor: holder, table: table)
    case .wouldDeadlock(let outer): self.init(insideOf: outer, table: table)
    case .notLocked(let key): self.init(notAmongKeys: key, table: table)
    case .tooManyKeys(let count, let maximum): self.init(keyCount: count, maximum: maximum, table: table)
    case .snapshotTooOld:
      self.init(.snapshotTooOld, table: table, "the snapshot's versions may have been reused; take a new snapshot")
    case .busy(let attempts): self.init(busyAfter: attempts, table: table)
    case .damaged(let what):
      self.init(.damaged, table: table, "damaged: \(what); 'shmctl repair \(table)', or drop it and create it anew")
    case .irreparable(let what):
      self.init(
        .damaged, table: table,
        "damaged: \(what); no repair mends it: 'shmctl drop \(table)', and create it anew")
    case .unopenable(let what):
      self.init(
        .damaged, table: table,
        "damaged: \(what); it cannot be opened any more: a process that has it open may mend it by Table.repair(), "
          + "else 'shmctl drop \(table)', and create it anew")
    case .repairLosesMost:
      self.init(
        .damaged, table: table,
        "damaged: a repair would give up more than half of its keys, and was not told to; "
          + "'shmctl repair --dry-run \(table)' shows what, --force does it")
    case .incompatible(let what):
      self.init(.incompatible, table: table, "incompatible: \(what); use the same release everywhere")
    case .notATable(let what):
      self.init(.notATable, table: table, "not a table: \(what); remove it or choose another name")
    case .noSuchTable: self.init(absent: table)
    case .exists: self.init(.exists, table: table, "exists already; open it, or drop it first")
    case .foreign(let object): self.init(foreign: object, table: table)
    case .invalid(let option, let rule): self.init(.invalid, table: table, "\(option): \(rule)")
    case .notPermitted(let why, let instead):
      self.init(.notPermitted, table: table, "not permitted: \(why); \(instead)")
    case .refused(let error, _) where error.errno == EROFS:
      self.init(
        .notPermitted, table: table, "not permitted: \(EngineError.readOnly) (\(error)); mount it anew to write",
        errno: error.errno)
    case .refused(let error, let object): self.init(refused: error, object, table: table)
    case .forked:
      self.init(.forked, table: table, "the process was forked since the table was opened; open it again in the child")
    case .unlinked:
      self.init(.unlinked, table: table, "its name was removed or taken by another table; open it again")
    case .slotsExhausted(let count): self.init(slotsExhausted: count, table: table)
    case .notDurable(let gap): self.init(notDurable: gap, table: table)
    case .mirrored: self.init(mirrored: table)
    case .unsupported(let what, let instead):
      self.init(.unsupported, table: table, "\(what) is not supported; \(instead)")
    case .system(let error):
      self.init(
        .system, table: table, "\(error); see what the system's limits and logs say", errno: error.errno)
    }
  }

  /// An error of a table that is being made. That there is no such table is no news; a host without /dev/shm is.
  package init(making error: EngineError, table: String) {
    switch error {
    case .noSuchTable where !HostFile.exists("/dev/shm"):
      self.init(.system, table: table, "this host has no /dev/shm; mount a tmpfs there", errno: ENOENT)
    default: self.init(error, table: table)
    }
  }

  // MARK: - One error of the engine's each

  private init(keyLength count: Int, table: String) {
    self.init(
      count == 0 ? .invalid : .tooLarge, table: table,
      count == 0
        ? "a key needs at least 1 byte; this one is empty"
        : "the key has \(count) bytes; at most \(Table.keyLengths.upperBound) are allowed")
  }

  private init(valueLength count: Int, maximum: Int, table: String) {
    self.init(
      .tooLarge, table: table,
      "the value has \(count) bytes; this table takes at most \(maximum) (a quarter of its capacity)")
  }

  private init(timedOutWaitingFor holder: Holder?, table: String) {
    self.init(
      .timedOut, table: table, "timed out waiting\(Self.naming(holder)); try again or allow more time", holder: holder)
  }

  private init(insideOf outer: String, table: String) {
    self.init(
      .wouldDeadlock, table: table,
      "this thread is already in a \(outer) of the table; use that section's view or transaction instead")
  }

  private init(notAmongKeys key: String, table: String) {
    self.init(
      .invalid, table: table,
      "key '\(key)' is not among those of this barrier; name it in 'keys', or use a barrier of the whole table")
  }

  private init(keyCount count: Int, maximum: Int, table: String) {
    self.init(
      .invalid, table: table,
      "a barrier may lock at most \(maximum) keys, counting the keys above them, and these are \(count) or more; lock a key above "
        + "them, or use a barrier of the whole table")
  }

  private init(busyAfter attempts: Int, table: String) {
    self.init(
      .busy, table: table,
      "a writer came between in each of \(attempts) attempts to read; try again, or take part instead of observing")
  }

  private init(absent table: String) {
    self.init(
      .noSuchTable, table: table, "no such table; create it with 'shmctl create \(table)' or in shmd's configuration")
  }

  private init(foreign object: NamedObject, table: String) {
    self.init(
      .foreign, table: table,
      "foreign: \(object), whom this process does not trust; let its owner or root drop it, choose another name, or name "
        + "the owner in 'trusting:' ('shmctl --trust')", owner: object.owner)
  }

  /// - Parameter object: what the system refused, if it is another user's.
  private init(refused error: SystemError, _ object: NamedObject?, table: String) {
    let advice = object.map { "\($0): ask them, or root" } ?? "ask its owner for the right, or act as another user"
    self.init(
      .notPermitted, table: table, "not permitted: the system refused: \(error); \(advice)", errno: error.errno,
      owner: object?.owner)
  }

  private init(slotsExhausted count: Int, table: String) {
    self.init(
      .slotsExhausted, table: table,
      "all \(count) reader slots belong to living threads and snapshots; use fewer of both, or observe")
  }

  private init(mirrored table: String) {
    self.init(
      .mirrored, table: table, "it mirrors another store, and what is written there comes here; write to that store")
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
          .full, table: table, "full: \(what) give the table more capacity (or /dev/shm more room)", holder: reader,
          isReclaimable: true))
    case .membarrier(let holder):
      self.init(
        .full, table: table,
        "full: old versions are beyond the limbo budget, and this process must not reclaim them: the system denies it membarrier, on which "
          + "a reader relies\(Self.naming(holder)); let another process write or maintain the table",
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
