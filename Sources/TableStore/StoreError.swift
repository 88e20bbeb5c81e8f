import CSQLite
import Glibc
import SharedMemory
public import SharedTable

/// What went wrong with a table's store, and what to do about it. The table itself goes on in memory.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// What kind of thing went wrong; raw values are the names.
  public enum Code: String, Sendable, CaseIterable {
    /// A row does not have its checksum, or SQLite finds the file malformed.
    case damaged
    /// The store is that of another table.
    case otherTable
    /// A file of a higher number is older than the one before it: somebody put a copy there.
    case older
    /// A later release made the file.
    case newerFormat
    /// The file is no table's store.
    case notAStore
    /// The file system, or its rights, take no writes.
    case readOnly
    /// No room on the file system (or a quota, or a limit on file sizes). Nothing changed; tried again.
    case noSpace
    /// An entry is larger than SQLite stores (10^9 bytes). Nothing changed; tried again.
    case tooLarge
    /// The disk failed. The file proves nothing any more: a new one is written from memory.
    case inputOutput
    /// The directory or the file belongs to another user, or others may write to the directory: the store may be their doing.
    case foreign
    /// The directory is on a network file system, which does not keep what a sync promises.
    case networkFileSystem
    /// Another process has the store open, or keeps the table's store.
    case inUse
    /// The log was overwritten faster than the table could be read.
    case overtaken
    /// The table could not be read, or not be made.
    case table
    /// Anything else.
    case system
  }

  /// For programs.
  public let code: Code
  /// The file or the directory.
  public let path: String
  /// What happened and what to do, without the path.
  public let message: String
  /// The table's own error, if it was that.
  public let tableError: TableError?

  public var description: String { "\(path): \(message)" }

  init(_ code: Code, _ path: String, _ message: String, _ tableError: TableError? = nil) {
    self.code = code
    self.path = path
    self.message = message
    self.tableError = tableError
  }

  init(_ error: TableError, _ path: String) {
    self.init(.table, path, "the table: \(error.message)", error)
  }
}

extension StoreError {
  /// May the next attempt succeed, with nobody's doing? After the disk has failed it is made with a new file.
  var mayEndByTryingAgain: Bool {
    switch code {
    case .inputOutput, .overtaken: true
    case .table: tableError?.code == .timedOut || tableError?.code == .busy
    default: false
    }
  }

  /// What a message advises where contents are not to be believed.
  static let moveAway =
    "nothing was changed; restore the file from a backup, or move it away and shmd makes the table anew, empty; the -wal beside it is "
    + "part of it, and goes with it"

  /// What a message advises where contents are not to be believed, and the table lives.
  static let moveAwayFromTable =
    "nothing was changed; move it away, with the -wal beside it, and shmd writes the table to a new file, from memory"

  /// This error with the advice for a table that lives.
  public var besideTable: StoreError {
    StoreError(code, path, message.replacing(Self.moveAway, with: Self.moveAwayFromTable), tableError)
  }

  /// The process that would open a store there has too few descriptors left.
  public static func wantOfDescriptors(_ directory: StoreDirectory) -> StoreError {
    StoreError(
      .system, directory.path,
      "no store is opened there, since too few of shmd's descriptors are free; raise the hard limit (ulimit -Hn, LimitNOFILE=)"
    )
  }

  /// - Parameter stranger: which of the store's files, or of the links to them, is another user's.
  init(_ path: String, of stranger: FileRights.Stranger) {
    // Of the link itself: what it leads to may be a file of the other user's choice.
    self.init(
      .foreign, path,
      "'\(stranger.file)' belongs to user \(stranger.user), so shmd did not write it; move the store away with its -wal, or if it is a backup "
        + "that you put there, run: chown -h \(geteuid()) \(stranger.file)")
  }

  /// What a message advises where two processes would keep one table's store.
  static let oneKeeper =
    "a table has one store, of one daemon: end that process, or take the table's 'durability' out of one daemon's configuration"

  /// Gives SQLite's error a kind and advice.
  /// - Parameter key: of the entry that was written; nil: none was.
  init(_ error: SQLiteError, _ path: String, key: [UInt8]? = nil) {
    let said = error.message
    let directory = StoreDirectory(String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)))
    switch error.kind {
    case SQLITE_FULL:
      self.init(.noSpace, path, "no room on the file system; free some: it is tried again until it works")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      self.init(.damaged, path, "damaged: \(said); \(Self.moveAway)")
    case SQLITE_READONLY, SQLITE_PERM:
      // SQLite does not say whether it is the file or the disk.
      self.init(
        .readOnly, path,
        "cannot be written (\(said)); \(directory.cureInUnit(of: EROFS))make the disk and the file writable for shmd")
    case SQLITE_CANTOPEN:
      self.init(
        .readOnly, path,
        "cannot be opened or made (\(said), \(Self.describe(error.errno))); \(directory.cureInUnit(of: error.errno))"
          + "make the directory writable for shmd")
    case SQLITE_BUSY, SQLITE_LOCKED:
      self.init(.inUse, path, "another process has it open; \(Self.oneKeeper)")
    case SQLITE_IOERR:
      if SystemError.isOutOfSpace(error.errno), csqlite_is_sync_failure(error.code) == 0 {
        self.init(.noSpace, path, "no room on the file system; free some: it is tried again until it works")
      } else {
        self.init(
          .inputOutput, path,
          "the disk failed (\(said), \(Self.describe(error.errno))); look at the disk; a table that lives is written to a new file from "
            + "memory, and one that was to come back needs the file: it is tried again, or restore it from a backup")
      }
    case SQLITE_TOOBIG:
      let name = key.map { "key '\(String.printableStart($0))'" } ?? "a key"
      self.init(
        .tooLarge, path,
        "\(name) with its value is larger than the \(error.mostBytes) bytes that SQLite stores; the table goes on in memory, and "
          + "nothing of it is stored until that value is smaller or removed")
    default:
      self.init(.system, path, "SQLite: \(said) (\(error.code))")
    }
  }

  static func describe(_ number: Int32) -> String {
    number == 0 ? "no error number" : unsafe String(cString: strerror(number))
  }
}
