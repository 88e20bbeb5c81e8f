import Glibc
import SharedMemory

/// What can go wrong below the typed API. The floor above adds the table's name and what to do.
///
/// Indirect, so that it is one word: a function that may throw it returns it in a register. As large as its largest case it
/// would be room on the stack of each function of a write's path, and stores where results and errors meet.
public indirect enum EngineError: Error, Sendable {
  /// What ran out.
  public enum Shortage: Sendable, Equatable {
    /// The table's own capacity.
    case capacity
    /// The file system under /dev/shm (ENOSPC).
    case fileSystem
    /// The process's limit on the size of files (RLIMIT_FSIZE), which memory objects are.
    case fileSize
    /// The process's address space (RLIMIT_AS): the table is mapped whole, and an observer copies what it reads.
    case addressSpace
    /// One barrier's changes: journal or rings are at their limit.
    case barrier
    /// Readers keep more than the limbo budget. Under `evict` a section or a `get` is in the way, under `wait` the timeout has passed, and under
    /// `refuse` no snapshot is ended. Named is the reader in the way; nil: it has gone, or there was none and the rings cannot grow.
    case limbo(Holder?)
    /// The table's own capacity, or the file system; but as much as is missing waits to be reclaimed, below the limbo budget. Named
    /// is the reader that keeps it; nil: none does any more, and the next barrier reclaims it.
    case reclaimable(Holder?)
    /// More than the limbo budget waits to be reclaimed, and this process must leave that to others: it is denied
    /// membarrier, which the named reader relies on.
    case membarrier(Holder?)

    /// May the next barrier find room, since it begins with making some? Not where readers keep it, or the process is limited otherwise.
    var mayEndByMakingRoom: Bool {
      switch self {
      case .capacity, .fileSystem, .fileSize, .barrier, .reclaimable: true
      case .addressSpace, .limbo, .membarrier: false
      }
    }

    /// What a failed system call ran out of; nil if it failed for another reason.
    init?(_ error: SystemError) {
      if error.errno == EFBIG {
        self = .fileSize
      } else if error.isOutOfSpace {
        self = .fileSystem
      } else {
        return nil
      }
    }
  }
  /// Why a version is not known to be durable.
  public enum DurabilityGap: Sendable, Equatable {
    /// Nobody keeps a store of the table.
    case noStore
    /// The keeper of the store cannot store.
    case failed
    /// The store had got so far when the time was over.
    case late(durable: UInt64)
  }
  case full(Shortage)
  case keyLength(Int)
  case valueTooLarge(Int, maximum: Int)
  case timedOut(Holder?)
  /// This thread is already in a section of this table that would make it wait for ever. Names that section.
  case wouldDeadlock(outer: String)
  /// A barrier of some keys was asked for a key that it has not locked.
  case notLocked(String)
  /// A barrier of some keys would lock so many, those above them included.
  case tooManyKeys(Int, maximum: Int)
  case snapshotTooOld
  /// An observer could not get a stable view after the given number of attempts.
  case busy(attempts: Int)
  case damaged(String)
  /// Damage of what a repair believes, or that it met and cannot mend.
  case irreparable(String)
  /// Damage for which the table cannot be opened, also not to repair it. A process that has it open can repair it.
  case unopenable(String)
  /// A repair would give up more than half of the keys, and was not told to.
  case repairLosesMost
  case incompatible(String)
  case notATable(String)
  case noSuchTable
  case exists
  /// Under the name lies an object of a user whom the process does not trust.
  case foreign(NamedObject)
  /// An option that cannot be, such as "capacity 5", and the rule that it breaks.
  case invalid(String, rule: String)
  /// Why this process may not, and what to do instead.
  case notPermitted(String, instead: String)
  /// The system forbids it (EACCES, EPERM, EROFS); what has the name, if that is known to matter.
  case refused(SystemError, NamedObject?)
  /// The process was forked since the table was opened.
  case forked
  /// The name now belongs to another object, or to none.
  case unlinked
  case slotsExhausted(Int)
  /// The version that was waited for is not known to be on the disk, be it committed or not.
  case notDurable(DurabilityGap)
  /// The table follows another store: only the process that mirrors the store writes.
  case mirrored
  /// What the table, or this process, does not offer; and what to do instead.
  case unsupported(String, instead: String)
  case system(SystemError)
}

extension EngineError {
  /// Does the error only keep this process from taking part, so that it may still observe?
  var forbidsTakingPart: Bool {
    switch self {
    case .notPermitted, .refused, .foreign: true
    default: false
    }
  }

  /// Of a refusal with EROFS, which no owner's right changes.
  package static let readOnly = "/dev/shm is mounted read-only here"

  /// What an observer's write throws, if this error has kept its process from taking part.
  var forbiddingWrites: EngineError {
    let (why, instead) =
      switch self {
      case .foreign(let object):
        ("\(object), whom it does not trust", "trust the owner by name ('shmctl --trust USER', 'trusting:')")
      case .refused(let error, _) where error.errno == EROFS:
        ("\(Self.readOnly) (\(error))", "mount it anew to write")
      case .refused(let error, let object):
        (
          "its rights do not let it write (\(error))",
          (object.map { "\($0): ask them for the right, or root" } ?? "ask its owner for the right, or root")
        )
      case .notPermitted(let why, let instead): (why, instead)
      default: ("\(self)", "open it anew to take part")
      }
    return .notPermitted("this process may only read the table: \(why)", instead: instead)
  }
}

extension EngineError {
  /// A table was being made, and whoever makes it was told to stop.
  public static var makingEnded: EngineError { .system(SystemError(call: "create", errno: ECANCELED)) }

  /// What a failed system call means while a table is being opened, made or dropped.
  init(opening error: SystemError) {
    switch error.errno {
    case ENOENT: self = .noSuchTable
    case EEXIST: self = .exists
    case EACCES, EPERM, EROFS: self = .refused(error, nil)
    case ENOMEM: self = .full(.addressSpace)
    case EISDIR, ELOOP, ENXIO, ENODEV: self = .notATable("its name belongs to something that is no memory object")
    // What glibc's shm_open makes of EISDIR. The name itself was checked before.
    case EINVAL where error.call.description == "shm_open":
      self = .notATable("its name belongs to something that is no memory object")
    default: self = Shortage(error).map { .full($0) } ?? .system(error)
    }
  }
}
