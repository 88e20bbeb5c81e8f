import SharedTable
import ToolSupport

/// How values are printed: as they are, as JSON, or for people.
struct ValueForm {
  private let json: Bool
  private let null: Bool
  private let onTerminal: Bool

  init(_ options: CommonOptions, null: Bool, raw: Bool) {
    json = options.json
    self.null = null
    onTerminal = !raw && StandardOutput.isTerminal
  }

  /// - Parameter areSeveral: whether other values stand before or behind it, so that it needs an end.
  func text(of entry: TableEntry, _ key: [UInt8], among areSeveral: Bool) -> [UInt8] {
    if json { return entry.line(key) }
    return ended(onTerminal ? Array(entry.shown.utf8) : entry.text, areSeveral)
  }

  /// Appends what ``text(of:_:among:)`` gives, for an entry in place.
  func append(_ entry: EntryView, _ key: ArraySlice<UInt8>, among areSeveral: Bool, to text: inout [UInt8]) {
    guard !json, !onTerminal, !(entry.type?.isScalar ?? false) else {
      text += self.text(of: TableEntry(entry), [UInt8](key), among: areSeveral)
      return
    }
    unsafe entry.bytes.withUnsafeBytes { bytes in unsafe text.append(contentsOf: bytes) }
    if null || areSeveral { text.append(null ? 0 : UInt8(ascii: "\n")) }
  }

  func text(ofDefault value: [UInt8], _ key: [UInt8], among areSeveral: Bool) -> [UInt8] {
    if json {
      var object = missing(key)
      object.add("value", bytes: value)
      return object.line
    }
    return ended(onTerminal ? Array(String.printable(value).utf8) : value, areSeveral)
  }

  func text(ofMissing key: [UInt8], among areSeveral: Bool) -> [UInt8] {
    if json { return missing(key).line }
    guard areSeveral else { return [] }
    return ended(onTerminal ? Array("(none)".utf8) : [], true)
  }

  private func missing(_ key: [UInt8]) -> JSONObject {
    var object = JSONObject()
    object.add("key", bytes: key)
    object.add("found", false)
    return object
  }

  private func ended(_ text: [UInt8], _ areSeveral: Bool) -> [UInt8] {
    if null { return text + [0] }
    return areSeveral || onTerminal ? text + [UInt8(ascii: "\n")] : text
  }
}

extension TableEntry {
  /// The value on a line of its own for people, with its type where that is not plain to see.
  var shown: String {
    switch type {
    case .string where String(validating: bytes, as: UTF8.self) != nil: "\"\(String.quotable(bytes))\""
    case let type?: "(\(type.name)) \(String.printable(text))"
    case nil: "(unknown) \(String.printable(text))"
    }
  }

  /// Type, value, version and expiry.
  var object: JSONObject {
    var object = JSONObject()
    describe(in: &object)
    return object
  }

  /// As one object on a line.
  func line(_ key: [UInt8]) -> [UInt8] {
    var object = JSONObject()
    object.add("key", bytes: key)
    object.add("found", true)
    describe(in: &object)
    return object.line
  }
}
