import CShims

/// A command name in two 64-bit words, padded with zero bytes: a form that fits into shared memory word by word.
public struct CommandName: Sendable, CustomStringConvertible {
  public var words: (UInt64, UInt64)

  public init(words: (UInt64, UInt64)) { self.words = words }

  /// For people. The bytes may come from a stranger: whatever is not printable ASCII becomes `?`.
  public var description: String {
    unsafe withUnsafeBytes(of: words) { bytes in
      unsafe String(
        decoding: bytes.prefix { $0 != 0 }.map { (0x20...0x7e).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
  }
}
