/// Why a dump is refused: what is wrong, and where.
public struct DumpProblem: Error, Equatable, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    /// No dump at all.
    case notADump
    /// Of a format that this release does not read.
    case otherFormat
    /// It ends before its end.
    case truncated
    /// It contradicts itself.
    case damaged
    /// A record is longer than the reader allows.
    case tooLarge
  }

  /// Where in the dump.
  public enum Place: Equatable, Sendable {
    case byte(UInt64)
    case line(UInt64)
  }

  public let kind: Kind
  public let place: Place
  public let message: String

  public init(_ kind: Kind, at place: Place, _ message: String) {
    self.kind = kind
    self.place = place
    self.message = message
  }

  /// A value of more bytes than the table takes.
  init(valueOf count: Int, longest: Int, at place: Place) {
    self.init(.tooLarge, at: place, "a value of \(count) bytes; the table takes at most \(longest)")
  }

  /// One sentence.
  public var description: String {
    switch place {
    case .byte(let offset): "at byte \(offset): \(message)"
    case .line(let number): "line \(number): \(message)"
    }
  }
}
