import SharedTable
import ToolSupport

/// How keys are listed.
struct KeyPrinter {
  let json: Bool
  let null: Bool
  let long: Bool
  private let onTerminal = StandardOutput.isTerminal

  init(json: Bool, null: Bool, long: Bool) {
    self.json = json
    self.null = null
    self.long = long
  }

  func line(_ listed: ListedKey) -> [UInt8] {
    if json { return object(listed).line }
    return (long ? columns(listed) : []) + shown(listed.key) + [null ? 0 : UInt8(ascii: "\n")]
  }

  /// Behind columns a key may not look like another line.
  private func shown(_ key: [UInt8]) -> [UInt8] {
    if onTerminal { return Array(String.printable(key).utf8) }
    return long && !null ? TabbedText.escaped(key) : key
  }

  private func columns(_ listed: ListedKey) -> [UInt8] {
    let collection = listed.collection.map { $0.isHeader ? $0.kind : "in \(String.printableStart($0.name))" }
    let columns = [
      listed.type?.name ?? "unknown", String(listed.byteCount), String(listed.version),
      listed.expiry.map(TimeLeft.text(until:)) ?? "-", collection ?? "-",
    ]
    return Array((columns.joined(separator: "\t") + "\t").utf8)
  }

  private func object(_ listed: ListedKey) -> JSONObject {
    var object = JSONObject()
    object.add("key", bytes: listed.key)
    object.add("type", listed.type?.name ?? "unknown")
    object.add("valueBytes", listed.byteCount)
    object.add("version", listed.version)
    if let expiry = listed.expiry { object.add(expiry: expiry) }
    if let collection = listed.collection { object.add(collection: collection) }
    return object
  }
}
