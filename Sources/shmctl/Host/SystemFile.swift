import Glibc

/// Files of the system that are small text.
enum SystemFile {
  /// Nil if it cannot be read.
  static func read(_ path: String, atMost limit: Int = 1 << 20) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let bytes = try? InputFile(descriptor: descriptor, name: path).readAll(limit: limit) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The names in a directory, sorted; empty if it cannot be read.
  static func names(in directory: String) -> [String] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe name(of: entry)
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Where it lies, and no further than its name: the entry ends there, and readdir's buffer may. A copy of `d_name` is one of 256 bytes.
  static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }

  /// Where a symbolic link leads; nil if it is none, or if that is gone.
  static func target(ofLink path: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe readlink(path, buffer.bindMemory(to: CChar.self).baseAddress!, buffer.count)
    }
    guard count > 0 else { return nil }
    let target = String(decoding: bytes[..<count], as: UTF8.self)
    return exists(target) ? target : nil
  }

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}
