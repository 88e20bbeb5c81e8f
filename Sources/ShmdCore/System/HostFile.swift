import Glibc
import SharedMemory

/// Small files of the host, read and locked with plain system calls.
enum HostFile {
  /// More than any configuration has; less than what would hurt.
  private static let maximumLength = 1 << 20

  /// A file's text.
  /// - Throws: what `open(2)` or `read(2)` said; `EFBIG` past 1 MiB, `EILSEQ` if it is no UTF-8.
  static func text(of path: String) throws(SystemError) -> String {
    guard let text = String(validating: try HostText.bytes(path, atMost: maximumLength), as: UTF8.self) else {
      throw SystemError(call: "read", errno: EILSEQ)
    }
    return text
  }

  /// The names in a directory, sorted; none if there is no such directory.
  static func names(in directory: String) throws(SystemError) -> [String] {
    guard let stream = unsafe opendir(directory) else {
      if errno == ENOENT { return [] }
      throw SystemError(call: "opendir", errno: errno)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let name = unsafe DirectoryEntry.nextName(stream) else { break }
      names.append(name)
    }
    guard errno == 0 else { throw SystemError(call: "readdir", errno: errno) }
    return names.sorted()
  }

  /// Writes all of it, or as much as the descriptor takes.
  static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress!, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// `device:inode` of what a descriptor leads to, as `JOURNAL_STREAM` gives it.
  static func identity(of descriptor: Int32) -> String? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    return "\(status.st_dev):\(status.st_ino)"
  }

  /// A variable of the environment; nil if unset or empty.
  static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }
}
