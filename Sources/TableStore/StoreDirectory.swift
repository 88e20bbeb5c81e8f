import CSQLite
import Glibc
import SharedMemory

/// Where stores lie: for each table one file `TABLE.N.sqlite`, and SQLite's log beside it.
///
/// N counts the files that the table has had. A new one is written whole before the one before goes, so there may be two for a
/// moment: the highest that is whole counts.
public struct StoreDirectory: Sendable, Equatable {
  public let path: String

  /// - Parameter path: one from `/` on is brought into its shortest form, so that one directory is not taken for two. But for `..`: behind a
  ///   link it leads to another directory than it seems.
  public init(_ path: String) {
    guard path.hasPrefix("/") else {
      self.path = path
      return
    }
    self.path = "/" + path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
  }

  func file(of table: String, _ generation: UInt64) -> String { "\(path)/\(table).\(generation).sqlite" }

  /// Makes the directory if there is none, and looks whether a sync means anything there.
  func prepare() throws(StoreError) {
    if unsafe mkdir(path, 0o700) == 0 {
      do throws(StoreError) {
        try syncParent()
      } catch {
        // The next attempt would find it there, and not sync its name.
        unsafe rmdir(path)
        throw error
      }
    } else if errno != EEXIST {
      throw refusal("made", "make it, or name another")
    }
    if let error = networkFileSystem ?? sharing { throw error }
  }

  /// Why this user could store nothing here, as far as that is seen without a change; nil if it is not.
  ///
  /// A directory that is missing is made, if the one above it is there.
  public var obstacle: StoreError? {
    if Self.mayUse(path) { return networkFileSystem ?? sharing }
    guard errno == ENOENT else { return refusal("used", "name a directory that shmd may write") }
    return Self.mayUse(parent) ? nil : refusal("made", "make it, or name another")
  }

  /// What the system refuses, by `errno`.
  private func refusal(_ what: String, _ cure: String) -> StoreError {
    let error = errno
    return StoreError(
      .readOnly, path,
      "cannot be \(what): \(StoreError.describe(error)); \(cureInUnit(of: error))\(cure) by 'store-directory'")
  }

  /// What the unit of a service needs to write here, with a semicolon behind it; empty if it was not the rights.
  func cureInUnit(of error: Int32) -> String {
    switch error {
    case EROFS:
      "if only shmd's unit sees it so (ProtectSystem=), name it there: ReadWritePaths=\(path) ('systemctl edit shmd'); "
    case EACCES, EPERM:
      "shmd's user \(geteuid()) has no right to it: in a unit StateDirectory= makes one that is that user's, below /var/lib; elsewhere "
        + "run: install -d -m 0700 -o \(geteuid()) DIRECTORY, and name it in the unit by ReadWritePaths=; "
    default: ""
    }
  }

  /// The directory above, also while this one is missing.
  private var parent: String {
    var parts = path.split(separator: "/")
    _ = parts.popLast()
    return "/" + parts.joined(separator: "/")
  }

  /// Sets `errno` if not. The slash lets what is no directory fail.
  private static func mayUse(_ directory: String) -> Bool {
    unsafe faccessat(AT_FDCWD, directory + "/", R_OK | W_OK | X_OK, AT_EACCESS) == 0
  }

  /// Whether it is gone after a reboot, as what is stored to outlast one should not be.
  public var isInMemory: Bool { Self.memoryFileSystems.contains(unsafe csqlite_file_system(path)) }

  /// Whether more than its owner may list it. The files in it are the owner's alone; a copy or a backup of one may not be.
  public var isReadableByOthers: Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o044 != 0
  }

  /// What the administrator is told to do to keep other users from listing it. The advice changes no directory that holds more than stores, as
  /// /tmp or /var/lib: other programs need it.
  public var cureForReaders: String { isForStoresAlone ? "run: chmod 0700 \(path)" : cureForSharing }

  /// Whether it is this user's and holds nothing but stores. Right below the root, as /srv, it may be others' too while it is empty.
  private var isForStoresAlone: Bool {
    var status = stat()
    guard parent != "/", unsafe stat(path, &status) == 0, status.st_uid == geteuid(), status.st_mode & S_ISVTX == 0
    else { return false }
    let names = try? HostFile.names(in: path)
    let ends = [".sqlite", ".sqlite-wal", ".sqlite-journal"]
    // The last is of a file system of its own.
    let others = [".", "..", "lost+found"]
    return names?.allSatisfy { name in others.contains(name) || ends.contains(where: name.hasSuffix) } ?? false
  }

  /// If stores lie in this directory, the administrator has to move them: a daemon that found none in the new one would make their tables empty.
  private var cureForSharing: String {
    let hasStores = (try? HostFile.names(in: path).contains { $0.hasSuffix(".sqlite") }) ?? true
    return "name a directory for shmd alone by 'store-directory'; this makes one: "
      + "install -d -m 0700 -o \(geteuid()) \(path == "/" ? "" : path)/shmd"
      + (hasStores
        ? "; stop shmd and move the stores (*.sqlite*) there before it starts again, or their tables begin empty" : "")
  }

  /// Why others could put a store here, which shmd would take for its own; nil if they could not, or if there is no directory.
  private var sharing: StoreError? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    if !FileRights.isOurs(status.st_uid) {
      return StoreError(
        .foreign, path, "belongs to user \(status.st_uid), neither root's nor this daemon's; \(cureForSharing)")
    }
    guard status.st_mode & 0o022 != 0 else { return nil }
    return StoreError(
      .foreign, path,
      "can be written by its group or by others (or by an ACL), who could put a store there; \(cureForReaders)")
  }

  private var networkFileSystem: StoreError? {
    guard let name = Self.networkFileSystems[unsafe csqlite_file_system(path)] else { return nil }
    return StoreError(
      .networkFileSystem, path,
      "is on a network file system (\(name)), which does not keep what a sync promises; name a directory on a local disk "
        + "by 'store-directory'")
  }

  /// SQLite syncs the directory, not its name: without that a power cut takes the directory with all that was said to be durable. Whoever else made
  /// the directory, as systemd for `StateDirectory=`, syncs its name or relies on the file system: shmd may not be allowed to read what is above it.
  private func syncParent() throws(StoreError) {
    let descriptor = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, fsync(descriptor) == 0 else {
      throw StoreError(
        .readOnly, path,
        "cannot be made: the directory above it cannot be synced: \(StoreError.describe(errno)); make it by hand, or name another by "
          + "'store-directory'")
    }
  }

  /// By the magic numbers of statfs(2).
  private static let networkFileSystems: [UInt32: String] = [
    0x6969: "NFS", 0xff53_4d42: "CIFS", 0xfe53_4d42: "SMB", 0x517b: "SMB", 0x0102_1997: "9p", 0x00c3_6400: "Ceph",
    0x5346_414f: "AFS", 0x7375_7245: "Coda", 0x564c: "NCP",
  ]

  /// tmpfs and ramfs.
  private static let memoryFileSystems: Set<UInt32> = [0x0102_1994, 0x8584_58f6]

  /// The generations of a table's files, the highest first.
  func generations(of table: String) throws(StoreError) -> [UInt64] {
    if let sharing { throw sharing }
    let names: [String]
    do throws(SystemError) {
      names = try HostFile.names(in: path)
    } catch {
      throw StoreError(
        .readOnly, path, "cannot be read: \(StoreError.describe(error.errno)); make the directory readable for shmd")
    }
    var found: [UInt64] = []
    for name in names {
      guard name.hasPrefix(table + "."), name.hasSuffix(".sqlite") else { continue }
      let middle = name.dropFirst(table.utf8.count + 1).dropLast(7)
      if let generation = UInt64(middle), "\(generation)" == middle { found.append(generation) }
    }
    return found.sorted(by: >)
  }

  /// Removes a file that does not count any more: its log last, which without the file is nobody's.
  func remove(_ table: String, _ generation: UInt64) {
    let file = file(of: table, generation)
    for path in [file, file + "-wal", file + "-journal"] { unsafe unlink(path) }
  }
}
