import Glibc

/// The entries of a directory, as readdir(3) gives them.
package enum DirectoryEntry {
  /// - Parameter stream: opendir(3)'s.
  /// - Returns: the next entry's name; nil behind the last one.
  /// - Throws: what readdir says. A caller that took an error for the end would believe that a file which is there is not.
  package static func nextName(_ stream: OpaquePointer) throws(SystemError) -> String? {
    errno = 0
    if let entry = unsafe readdir(stream) { return unsafe name(of: entry) }
    if errno != 0 { throw SystemError(call: "readdir", errno: errno) }
    return nil
  }

  /// Reads the name where it lies, and no further than it goes: readdir's buffer may end right behind it. A copy of
  /// `d_name` would read all its 256 bytes.
  static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
