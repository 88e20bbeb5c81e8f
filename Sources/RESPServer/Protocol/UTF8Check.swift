/// Which of the values that clients send are text.
enum UTF8Check {
  /// Whether bytes are UTF-8. Nearly all are ASCII, and few; that is seen eight at a time.
  @inline(__always)
  static func isValid(_ bytes: Bytes) -> Bool {
    isASCII(bytes, from: 0) || isLongerValid(bytes)
  }

  private static let notASCII: UInt64 = 0x8080_8080_8080_8080

  /// Of at most eight bytes from an offset on; false where there are more.
  @inline(__always)
  private static func isASCII(_ bytes: Bytes, from offset: Int) -> Bool {
    let count = bytes.count &- offset
    return count == 0 || count <= 8 && bytes.word(at: offset, count) & notASCII == 0
  }

  @inline(never)
  private static func isLongerValid(_ bytes: Bytes) -> Bool {
    var index = 0
    while index &+ 8 <= bytes.count, bytes.word(at: index, 8) & notASCII == 0 { index &+= 8 }
    if isASCII(bytes, from: index) { return true }
    let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes.raw[index...]).assumingMemoryBound(to: UInt8.self)
    return (try? unsafe UTF8Span(validating: rest.span)) != nil
  }
}
