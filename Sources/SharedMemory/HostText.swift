import Glibc

/// Small files that the system keeps as text: /etc/passwd, /proc/locks and their like.
public enum HostText {
  /// What a file holds, up to a whole read beyond `limit` bytes; nil if it cannot be read. Bytes that are no UTF-8 are
  /// repaired.
  public static func read(_ path: String, atMost limit: Int) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit {
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
