import Glibc

/// Files of proc(5).
enum ProcessFile {
  /// The lines of one; none if it cannot be opened, as when its process is gone.
  static func lines(of path: String) -> [Substring] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { break }
      text += chunk[..<count]
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map { $0 }
  }
}
