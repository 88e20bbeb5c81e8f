import SharedTable
import TableEngine
import ToolSupport

/// A value that is not what its key takes. The reader adds the place.
struct Complaint: Error {
  let message: String
  /// Nobody knows yet whether the value is right: what it names cannot be looked up just now.
  let isTemporary: Bool

  init(_ message: String, isTemporary: Bool = false) {
    self.message = message
    self.isTemporary = isTemporary
  }
}

/// The forms of values: each takes a scalar's text, quoted or not, and gives the value or says what it should be.
enum Scalars {
  /// Bytes, as the command reads them too.
  static func size(_ text: String) throws(Complaint) -> Int {
    guard let size = ByteCount(text) else {
      throw Complaint(
        "\(text.quotedExcerpt) is not a size that there can be; "
          + "write bytes, or a whole number with KiB, MiB, GiB or TiB, as in 64MiB")
    }
    return size.bytes
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
      guard case .invalid(_, let rule) = error else { throw Complaint("\(error)") }
      throw Complaint(
        "\(text.quotedExcerpt) is not possible: \(rule); write \"0600\", \"0640\", \"0644\", \"0660\" or \"0664\"")
    }
    return mode
  }

  /// A pause between two rounds; spans of time as the command reads them too.
  static func interval(_ text: String) throws(Complaint) -> Duration {
    guard let span = TimeSpan(text) else {
      throw Complaint("\(text.quotedExcerpt) is not a span of time; write a number with ms, s, m or h, as in 500ms")
    }
    guard (10...3_600_000).contains(span.milliseconds) else {
      throw Complaint("an interval of \(text) is not possible; give 10ms to 60m")
    }
    return span.duration
  }

  /// One of a key's words.
  static func word<T>(_ text: String, _ words: [(String, T)], _ what: String) throws(Complaint) -> T {
    for (word, value) in words where word == text { return value }
    let known = words.map(\.0).joined(separator: ", ")
    throw Complaint(
      "\(text.quotedExcerpt) is not \(what); \(words.count == 1 ? "the only one is" : "choose one of") \(known)")
  }

  /// One of all cases, by the name that the type gives it.
  static func word<T: CaseIterable & LosslessStringConvertible>(_ text: String, _ what: String) throws(Complaint) -> T {
    try word(text, T.allCases.map { ($0.description, $0) }, what)
  }

  /// One of all cases, by its raw value.
  static func rawWord<T: CaseIterable & RawRepresentable<String>>(
    _ text: String, _ what: String
  ) throws(Complaint) -> T {
    try word(text, T.allCases.map { ($0.rawValue, $0) }, what)
  }

  static func truth(_ text: String) throws(Complaint) -> Bool {
    try word(text, [("true", true), ("false", false)], "true or false")
  }

  static func file(_ text: String) throws(Complaint) -> String { try path(text, "a file's path") }

  static func directory(_ text: String) throws(Complaint) -> String { try path(text, "a directory's path") }

  private static func path(_ text: String, _ what: String) throws(Complaint) -> String {
    guard text.hasPrefix("/"), text.utf8.count <= 1024 else {
      throw Complaint("\(text.quotedExcerpt) is not \(what); give one that begins with '/'")
    }
    return text
  }

  static func describe(_ bytes: Int) -> String { ByteCount(bytes: bytes).exact }

  /// Digits only: no sign, no space, no underscore.
  private static func wholeNumber(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Int(text)
  }
}
