import Glibc

/// Standard output: results and nothing else.
enum StandardOutput {
  static var isTerminal: Bool { isatty(1) == 1 }

  static func write(_ bytes: [UInt8]) throws { try Descriptor.writeAll(1, bytes) }

  static func write(line: String) throws { try write(Array("\(line)\n".utf8)) }
}
