import Glibc

/// What lies under a collection's name: a line of text that says what it is and how many elements it has, such as
/// `dictionary of string to integer: 12`.
///
/// The text up to the colon is the collection's *signature*; the numbers behind it are its state. A fingerprint keeps
/// others from taking it for a string.
struct CollectionHeader: TableValue {
  let text: String

  static var tableType: ValueType { .string }
  static let tableFingerprint = Fingerprints.named("SharedTable.collection")

  init(_ signature: String, _ numbers: [Int]) {
    text = numbers.reduce(signature + ":") { "\($0) \($1)" }
  }

  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe text.withTableBytes(body)
  }

  init?(tableBytes: UnsafeRawBufferPointer) {
    guard let text = unsafe String(tableBytes: tableBytes) else { return nil }
    self.text = text
  }

  /// The state, read from the stored bytes where they are just what ``init(_:_:)`` writes; nil leaves it to
  /// ``read(_:count:)``, which is slower and knows why not.
  static func numbers(_ bytes: RawSpan, _ signature: String, count: Int) -> [Int]? {
    var rest = signature.utf8.count
    guard bytes.byteCount > rest, bytes.isPrefixed(by: signature), byte(bytes, rest) == UInt8(ascii: ":") else {
      return nil
    }
    var numbers: [Int] = []
    numbers.reserveCapacity(count)
    rest += 1
    while rest < bytes.byteCount, numbers.count < count {
      guard byte(bytes, rest) == UInt8(ascii: " ") else { return nil }
      rest += 1
      let first = rest
      var number = 0
      while rest < bytes.byteCount, case let digit = byte(bytes, rest) &- UInt8(ascii: "0"), digit < 10 {
        number = number &* 10 &+ Int(digit)
        rest += 1
      }
      // 18 digits fit into an `Int`.
      guard (1...18).contains(rest - first) else { return nil }
      numbers.append(number)
    }
    return numbers.count == count && rest == bytes.byteCount ? numbers : nil
  }

  private static func byte(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
    unsafe bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// The state, if this is a collection of that signature and the state can be: `count` numbers, none negative.
  enum Reading {
    case numbers([Int])
    case other(String)
    case unreadable
  }

  func read(_ signature: String, count: Int) -> Reading {
    guard let colon = text.lastIndex(of: ":") else { return .unreadable }
    guard text[..<colon] == signature else { return .other(String(text[..<colon].prefix(200))) }
    var numbers: [Int] = []
    for word in text[text.index(after: colon)...].split(separator: " ") {
      guard let number = Int(word), number >= 0, numbers.count < count else { return .unreadable }
      numbers.append(number)
    }
    return numbers.count == count ? .numbers(numbers) : .unreadable
  }
}

extension RawSpan {
  fileprivate func isPrefixed(by text: String) -> Bool {
    unsafe withUnsafeBytes { bytes in
      let isEqual = unsafe text.utf8.withContiguousStorageIfAvailable { wanted in
        unsafe bytes.count >= wanted.count && memcmp(bytes.baseAddress!, wanted.baseAddress!, wanted.count) == 0
      }
      return isEqual ?? false
    }
  }
}

/// A type's name in a signature: programs that agree in it read each other's values.
func signature<T: TableValue>(of type: T.Type) -> String {
  T.tableFingerprint == 0 ? T.tableType.name : "\(T.tableType.name)#\(String(T.tableFingerprint, radix: 16))"
}
