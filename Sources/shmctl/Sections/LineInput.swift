/// Lines of a descriptor, as they come. Holds a piece and the line that it is in.
struct LineInput {
  private let input: InputFile
  private var piece = [UInt8](repeating: 0, count: 256 << 10)
  private var position = 0
  private var filled = 0
  private let longest: Int
  /// Of the line that was handed out last, from 1.
  private(set) var number = 0

  init(_ input: InputFile, longest: Int) {
    self.input = input
    self.longest = longest
  }

  /// The next line without its end; nil at the end. A last line without an end is one, too.
  mutating func next() throws -> [UInt8]? {
    var line: [UInt8] = []
    var isThere = false
    while true {
      if position == filled {
        filled = try input.read(into: &piece)
        position = 0
        if filled == 0 {
          if isThere { number += 1 }
          return isThere ? line : nil
        }
      }
      isThere = true
      let rest = piece[position..<filled]
      let end = rest.firstIndex(of: UInt8(ascii: "\n"))
      line += rest[..<(end ?? filled)]
      position = end.map { $0 + 1 } ?? filled
      guard line.count <= longest else {
        throw Complaint(.tooLarge, "\(input.name), line \(number + 1): longer than \(longest) bytes; store it in parts")
      }
      if end != nil {
        number += 1
        return line
      }
    }
  }

  /// Whether a line, or the end, is there without waiting, as far as can be told.
  var isReady: Bool { piece[position..<filled].contains(UInt8(ascii: "\n")) || input.isReady }
}
