import Glibc

/// Small files of the host, read whole: /etc/passwd, /proc/locks and their like.
public enum HostText {
  /// What a file holds, up to a whole read beyond `limit` bytes; nil if it cannot be read. Bytes that are no UTF-8 are
  /// repaired.
  public static func read(_ path: String, atMost limit: Int) -> String? {
    (try? beginning(of: path, beyond: limit)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// All that a file holds. Does not wait for a pipe's other end.
  /// - Throws: what `open(2)` or `read(2)` said; `EFBIG` past `limit` bytes.
  public static func bytes(_ path: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
    let bytes = try beginning(of: path, beyond: limit)
    guard bytes.count <= limit else { throw SystemError(call: "read", errno: EFBIG) }
    return bytes
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
