import Glibc

/// Small files of the host, read whole, and directories: /etc/passwd, /proc/locks, configuration and their like.
package enum HostFile {
  /// Enough for a configuration, and for what /proc says of a process; less than what would hurt.
  package static let usualLimit = 1 << 20

  /// What a file holds, at most one buffer's length more than `limit` bytes; nil if it cannot be read. Bytes that are no UTF-8 are
  /// repaired.
  package static func read(_ path: String, atMost limit: Int = usualLimit) -> String? {
    (try? beginning(of: path, beyond: limit)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// All that a file holds. Does not wait for a pipe's other end.
  /// - Throws: what `open(2)` or `read(2)` said; `EFBIG` past `limit` bytes.
  package static func bytes(_ path: String, atMost limit: Int = usualLimit) throws(SystemError) -> [UInt8] {
    let bytes = try beginning(of: path, beyond: limit)
    guard bytes.count <= limit else { throw SystemError(call: "read", errno: EFBIG) }
    return bytes
  }

  /// A file's text.
  /// - Throws: what `open(2)` or `read(2)` said; `EFBIG` past 1 MiB, `EILSEQ` if it is no UTF-8.
  package static func text(of path: String) throws(SystemError) -> String {
    guard let text = String(validating: try bytes(path), as: UTF8.self) else {
      throw SystemError(call: "read", errno: EILSEQ)
    }
    return text
  }

  /// The names in a directory, sorted; none if there is no such directory.
  package static func names(in directory: String) throws(SystemError) -> [String] {
    guard let stream = unsafe opendir(directory) else {
      if errno == ENOENT { return [] }
      throw SystemError(call: "opendir", errno: errno)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let name = unsafe try DirectoryEntry.nextName(stream) { names.append(name) }
    return names.sorted()
  }

  package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Whether every user may write to a file or a directory. A device or a pipe is neither. A file that is mounted read-only, as a container's
  /// configuration, no user may write. But systemd mounts read-only for a service what users outside of the service may write
  /// (`ProtectSystem=`), so in a service the mount proves nothing.
  package static func isWritableByAll(_ path: String) -> Bool {
    var status = stat()
    var system = statvfs()
    guard unsafe stat(path, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT),
      status.st_mode & S_IWOTH != 0
    else { return false }
    let isMountedWritable = unsafe statvfs(path, &system) != 0 || system.f_flag & UInt(ST_RDONLY) == 0
    return unsafe isMountedWritable || getenv("INVOCATION_ID") != nil
  }

  /// Where a symbolic link leads; nil if it is none, or if that is gone.
  package static func target(ofLink path: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe readlink(path, buffer.bindMemory(to: CChar.self).baseAddress!, buffer.count)
    }
    guard count > 0 else { return nil }
    let target = String(decoding: bytes[..<count], as: UTF8.self)
    return exists(target) ? target : nil
  }

  /// Reads until there are more than `limit` bytes, or no more.
  private static func beginning(of path: String, beyond limit: Int) throws(SystemError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError(call: "open", errno: errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= limit {
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemError(call: "read", errno: errno) }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return bytes
  }
}
