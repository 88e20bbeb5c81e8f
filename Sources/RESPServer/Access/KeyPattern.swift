import Glibc

/// Keys that a rule is about: one, or all that begin alike.
public struct KeyPattern: Sendable, Equatable, CustomStringConvertible {
  private let bytes: [UInt8]
  private let isPrefix: Bool

  /// - Parameter text: a key, or the beginning of keys and a `*`.
  /// - Returns: nil for the empty text, and for one with a `*` before its end.
  public init?(_ text: String) {
    guard !text.isEmpty else { return nil }
    isPrefix = text.hasSuffix("*")
    bytes = Array((isPrefix ? text.dropLast() : text[...]).utf8)
    if bytes.contains(UInt8(ascii: "*")) { return nil }
  }

  /// As it is written.
  public var description: String { String(decoding: bytes, as: UTF8.self) + (isPrefix ? "*" : "") }

  var isEveryKey: Bool { isPrefix && bytes.isEmpty }

  func matches(_ key: Bytes) -> Bool {
    guard isPrefix ? key.count >= bytes.count : key.count == bytes.count else { return false }
    guard let start = unsafe key.raw.baseAddress, !bytes.isEmpty else { return isPrefix }
    return unsafe bytes.withUnsafeBytes { unsafe memcmp($0.baseAddress!, start, $0.count) } == 0
  }
}
