import Glibc

/// Who may read a store: its owner alone, whatever rights its table has and whatever the umask is. SQLite gives its log the rights of
/// the file.
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

  /// Takes the rights of all but the owner away from a store's files. Where the system refuses that, as on a file system without rights,
  /// the store is used all the same.
  static func narrow(_ path: String) {
    for file in [path, path + "-wal", path + "-journal"] {
      var status = stat()
      guard unsafe stat(file, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
      unsafe chmod(file, status.st_mode & 0o600)
    }
  }
}
