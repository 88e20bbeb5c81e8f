import Glibc

/// A question to whoever sits at the terminal.
enum Question {
  /// Whether there is somebody to answer.
  static var canBeAsked: Bool { isatty(0) == 1 && StandardError.isTerminal }

  /// Whether the answer was yes; anything else, and the end of input, is no.
  static func ask(_ question: String) throws -> Bool {
    try Descriptor.writeAll(2, Array("shmctl: \(StandardError.printable(question)) [y/N] ".utf8))
    var input = InputChunks(.standardInput)
    let answer = try input.next() ?? []
    let word = String(decoding: answer, as: UTF8.self).lowercased().prefix { $0 != "\n" }
    return word == "y" || word == "yes"
  }
}
