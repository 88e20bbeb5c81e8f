import Glibc

/// The entries of a directory, as readdir(3) gives them.
package enum DirectoryEntry {
  /// - Parameter stream: opendir(3)'s.
  /// - Returns: the next entry's name; nil behind the last one, and where errno, which the caller has set to 0, says what is wrong.
  package static func nextName(_ stream: OpaquePointer) -> String? {
    guard let entry = unsafe readdir(stream) else { return nil }
    return unsafe name(of: entry)
  }

  /// Reads the name where it lies, and no further than it goes: readdir's buffer may end right behind it. A copy of
  /// `d_name` would read all its 256 bytes.
  static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
