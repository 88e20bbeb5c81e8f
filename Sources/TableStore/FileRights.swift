import Glibc

/// The owners and rights of stores. The owner alone may read a store, whatever rights its table has and whatever the umask is. The owner is shmd's
/// user or root, or shmd does not open it. SQLite gives its log the rights of the file.
enum FileRights {
  /// Makes an empty file, which SQLite takes for a new database; it would make one that the umask lets others read. A file that is there
  /// stays, and is not opened: closing it would take the locks of a connection of this process away.
  static func makeFile(_ path: String) {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    // The umask may have taken the owner's rights.
    fchmod(descriptor, 0o600)
    close(descriptor)
  }

  /// What SQLite may have for a store.
  private static func files(_ path: String) -> [String] { [path, path + "-wal", path + "-journal"] }

  /// Whether an owner is this user or root, whom nobody keeps from anything.
  static func isOurs(_ owner: uid_t) -> Bool { owner == geteuid() || owner == 0 }

  /// One of a store's files, or a link to it, that belongs neither to this user nor to root.
  struct Stranger {
    let file: String
    let user: uid_t
  }

  /// The first such file; nil if there is none.
  static func stranger(owning path: String) -> Stranger? {
    for file in files(path) {
      var status = stat()
      if unsafe lstat(file, &status) == 0, !isOurs(status.st_uid) { return Stranger(file: file, user: status.st_uid) }
      if unsafe stat(file, &status) == 0, !isOurs(status.st_uid) { return Stranger(file: file, user: status.st_uid) }
    }
    return nil
  }

  /// Takes the rights of all but the owner away from a store's files. Where the system refuses that, as on a file system without rights,
  /// the store is used all the same.
  static func narrow(_ path: String) {
    for file in files(path) {
      var status = stat()
      guard unsafe stat(file, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
      unsafe chmod(file, status.st_mode & 0o600)
    }
  }
}
