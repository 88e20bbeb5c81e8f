import SharedTable

/// An argument of a request, where it lies in the connection's buffer: valid while its command runs.
@safe
struct Bytes: TableKey {
  let raw: UnsafeRawBufferPointer

  @unsafe
  init(_ raw: UnsafeRawBufferPointer) { unsafe self.raw = raw }

  var count: Int { unsafe raw.count }
  var isEmpty: Bool { unsafe raw.isEmpty }
  var array: [UInt8] { unsafe [UInt8](raw) }
  var text: String { unsafe String(decoding: raw, as: UTF8.self) }
  /// The text with the case of ASCII letters, as Redis looks for words: no other letter becomes one of them.
  var lowercased: String { String(decoding: array.map(ASCII.lower), as: UTF8.self) }
  var uppercased: String { String(decoding: array.map(ASCII.upper), as: UTF8.self) }
  /// As C prints a string: up to a zero byte, and at most so many bytes. They need not be text.
  func quoted(most: Int = .max) -> [UInt8] { Array(array.prefix(most).prefix { $0 != 0 }) }

  subscript(index: Int) -> UInt8 { unsafe raw[index] }

  /// So many bytes from an offset, 1 to 8, as a word, the first one lowest: by loads that overlap.
  @inline(__always)
  func word(at offset: Int, _ count: Int) -> UInt64 {
    let bytes = unsafe raw.baseAddress! + offset
    @inline(__always) func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type) -> UInt64 {
      UInt64(unsafe T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))) << UInt64(offset &* 8)
    }
    if count == 8 { return load(0, as: UInt64.self) }
    if count >= 4 { return load(0, as: UInt32.self) | load(count &- 4, as: UInt32.self) }
    return load(0, as: UInt8.self) | load(count / 2, as: UInt8.self) | load(count &- 1, as: UInt8.self)
  }

  func withKeyBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe body(raw)
  }

  /// Whether it is this word, which is given in upper case, in any case. A zero byte ends it: Redis compares C strings.
  func isWord(_ word: StaticString) -> Bool {
    let length = word.utf8CodeUnitCount
    guard count == length || count > length && self[length] == 0 else { return false }
    for index in 0..<length where unsafe ASCII.upper(raw[index]) != word.utf8Start[index] { return false }
    return true
  }

  /// A decimal integer as Redis takes one: no plus, no leading zeros, no spaces.
  var integer: Int? {
    var index = 0
    let end = count
    guard end > 0, end <= 20 else { return nil }
    let isNegative = self[0] == ASCII.minus
    if isNegative { index = 1 }
    guard index < end else { return nil }
    if self[index] == ASCII.zero { return end == 1 ? 0 : nil }
    var magnitude: UInt64 = 0
    while index < end {
      let digit = self[index] &- ASCII.zero
      guard digit <= 9 else { return nil }
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, overflow2) = product.addingReportingOverflow(UInt64(digit))
      if overflow || overflow2 { return nil }
      magnitude = sum
      index += 1
    }
    if isNegative { return magnitude <= 1 << 63 ? Int(truncatingIfNeeded: 0 &- magnitude) : nil }
    return Int(exactly: magnitude)
  }

  /// A cursor: a decimal number of 64 bits, as Redis' `string2ull` reads it.
  var unsigned: UInt64? { UInt64(text) }

  /// Whether both have the same bytes.
  func equals(_ other: Bytes) -> Bool { unsafe count == other.count && raw.elementsEqual(other.raw) }
}

extension Array where Element == UInt8 {
  /// Runs `body` with these bytes as an argument.
  func withBytes<R>(_ body: (Bytes) throws -> R) rethrows -> R {
    try unsafe withUnsafeBytes { bytes in try unsafe body(Bytes(bytes)) }
  }
}
