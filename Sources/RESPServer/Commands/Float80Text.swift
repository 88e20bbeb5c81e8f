import Glibc

#if arch(x86_64) || arch(i386)
  /// C's `long double`.
  typealias LongDouble = Float80
#else
  /// Swift has no type of this machine's `long double`: what has more than 17 digits is rounded.
  typealias LongDouble = Double
#endif

/// Numbers with a fraction as Redis reads and writes them: `long double`, in at most 17 digits behind the point.
enum Float80Text {
  #if arch(x86_64) || arch(i386)
    private static let format = "%.17Lf"
    private static func read(
      _ start: UnsafePointer<CChar>, _ end: inout UnsafeMutablePointer<CChar>?
    ) -> LongDouble { unsafe strtold(start, &end) }
  #else
    private static let format = "%.17f"
    private static func read(
      _ start: UnsafePointer<CChar>, _ end: inout UnsafeMutablePointer<CChar>?
    ) -> LongDouble { unsafe strtod(start, &end) }
  #endif

  /// What `string2ld` takes: the whole text, no spaces before it, no NaN.
  static func parse(_ text: [UInt8]) -> LongDouble? {
    guard !text.isEmpty, text.count < 5 * 1024, let first = text.first, first != ASCII.space, !(9...13).contains(first),
      !text.contains(0)
    else { return nil }
    let string = String(decoding: text, as: UTF8.self)
    return unsafe string.withCString { start -> LongDouble? in
      var end: UnsafeMutablePointer<CChar>?
      errno = 0
      let value = unsafe read(start, &end)
      // Too large, or too small, for one.
      if errno == ERANGE, value.isInfinite || value.isZero { return nil }
      guard let end = unsafe end, unsafe end.pointee == 0, !value.isNaN else { return nil }
      return value
    }
  }

  /// As `INCRBYFLOAT` answers: `%.17Lf` without the zeros at its end.
  static func decimal(_ value: LongDouble) -> String {
    var buffer = [CChar](repeating: 0, count: 5 * 1024)
    let count = unsafe withVaList([value]) { unsafe vsnprintf(&buffer, buffer.count, format, $0) }
    var text = String(decoding: buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if text.contains(".") {
      while text.hasSuffix("0") { text.removeLast() }
      if text.hasSuffix(".") { text.removeLast() }
    }
    return text == "-0" ? "0" : text
  }

  /// A double in as few digits as say which it is; a whole one without a fraction.
  static func shortest(_ value: Double) -> String {
    guard value.isFinite else { return value.isNaN ? "nan" : value < 0 ? "-inf" : "inf" }
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
