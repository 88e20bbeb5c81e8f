import SharedTable
import TableEngine

/// A value that is not what its key takes. The reader adds the place.
struct Complaint: Error {
  let message: String

  init(_ message: String) { self.message = message }
}

/// The forms of values: each takes a scalar's text, quoted or not, and gives the value or says what it should be.
enum Scalars {
  private static let sizeUnits: [(String, Int)] = [
    ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
  ]

  /// Bytes: a whole number, alone or with a unit of 1024.
  static func size(_ text: String) throws(Complaint) -> Int {
    var digits = text
    var factor = 1
    for (unit, bytes) in sizeUnits where text.hasSuffix(unit) {
      digits = String(text.dropLast(unit.count))
      if digits.hasSuffix(" ") { digits.removeLast() }
      factor = bytes
    }
    guard let number = wholeNumber(digits) else {
      throw Complaint(
        "\(text.quotedExcerpt) is not a size; write bytes, or a number with KiB, MiB, GiB or TiB, as in 64MiB")
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
    if overflow {
      throw Complaint(
        "\(text.quotedExcerpt) is more than any table can have; at most \(describe(Geometry.maximumCapacity))")
    }
    return bytes
  }

  static func capacity(_ text: String) throws(Complaint) -> Int {
    let bytes = try size(text)
    guard bytes >= Geometry.minimumCapacity, bytes <= Geometry.maximumCapacity else {
      throw Complaint(
        "a capacity of \(text) is not possible; "
          + "give \(describe(Geometry.minimumCapacity)) to \(describe(Geometry.maximumCapacity))")
    }
    return bytes
  }

  /// Permission bits in octal, of those that a table can have.
  static func mode(_ text: String) throws(Complaint) -> UInt32 {
    guard (3...4).contains(text.utf8.count), let mode = UInt32(text, radix: 8), wholeNumber(text) != nil else {
      throw Complaint("\(text.quotedExcerpt) is not a mode; write permission bits in octal, as in \"0660\"")
    }
    do throws(EngineError) {
      try Table.Options(mode: mode).check()
    } catch {
      guard case .notPermitted(let why) = error else { throw Complaint("\(error)") }
      // The engine begins with the mode, and so does the reader.
      let reason = why.split(separator: ": ", maxSplits: 1).last ?? ""
      throw Complaint(
        "\(text.quotedExcerpt) is not possible: \(reason); write \"0600\", \"0640\", \"0644\", \"0660\" or \"0664\"")
    }
    return mode
  }

  static func duration(_ text: String) throws(Complaint) -> Duration {
    let units: [(String, Int)] = [("ms", 1), ("s", 1000), ("min", 60_000)]
    for (unit, milliseconds) in units where text.hasSuffix(unit) {
      guard let number = wholeNumber(String(text.dropLast(unit.count))), number <= 3_600_000 / milliseconds else {
        continue
      }
      let total = number * milliseconds
      guard total >= 10 else { throw Complaint("an interval of \(text) is too short; give 10ms to 60min") }
      return .milliseconds(total)
    }
    throw Complaint("\(text.quotedExcerpt) is not an interval; write 10ms to 60min, as in 500ms, 1s or 2min")
  }

  /// One of a key's words.
  static func word<T>(_ text: String, _ words: [(String, T)], _ what: String) throws(Complaint) -> T {
    for (word, value) in words where word == text { return value }
    let known = words.map(\.0).joined(separator: ", ")
    throw Complaint(
      "\(text.quotedExcerpt) is not \(what); \(words.count == 1 ? "the only one is" : "choose one of") \(known)")
  }

  static func describe(_ bytes: Int) -> String {
    for (unit, factor) in sizeUnits.reversed() where bytes >= factor && bytes % factor == 0 {
      return "\(bytes / factor)\(unit)"
    }
    return "\(bytes)"
  }

  /// Digits only: no sign, no space, no underscore.
  private static func wholeNumber(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Int(text)
  }
}
