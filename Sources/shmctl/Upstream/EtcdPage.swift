import SharedTable
import TableDump
import TableMirror
import ToolSupport

/// Some keys of an etcd with their values, as `etcdctl get` writes them in JSON: bytes in base64.
struct EtcdPage {
  let cluster: UInt64
  /// Where that etcd was when it answered.
  let revision: Int64
  let hasMore: Bool
  let pairs: [(key: [UInt8], value: [UInt8])]

  /// - Returns: nil for what is no such answer.
  init?(_ answer: [UInt8]) {
    let line = answer.last == UInt8(ascii: "\n") ? answer.dropLast() : answer
    guard let fields = try? JSONFields(line: line), case .container(let headerText) = fields["header"],
      let header = try? JSONFields(line: headerText), let cluster = header.unsigned("cluster_id"),
      let revision = header.unsigned("revision").flatMap({ Int64(exactly: $0) })
    else { return nil }
    var pairs: [(key: [UInt8], value: [UInt8])] = []
    // etcdctl leaves out what is empty, zero or false.
    if case .container(let array) = fields["kvs"] {
      for element in JSONText.elements(ofArray: array) {
        guard let pair = Self.pair(element) else { return nil }
        pairs.append(pair)
      }
    }
    self.cluster = cluster
    self.revision = revision
    self.pairs = pairs
    hasMore = fields["more"] == .bool(true)
  }

  private static func pair(_ element: [UInt8]) -> (key: [UInt8], value: [UInt8])? {
    guard let fields = try? JSONFields(line: element), let key = fields.string("key").flatMap(JSONText.bytes(base64:)),
      let value = JSONText.bytes(base64: fields.string("value") ?? "")
    else { return nil }
    return (key, value)
  }

  /// Hands out those that are above a key and below the prefix as a mirror's table has them.
  func forEachRecord(above last: [UInt8], of contents: MirrorContents, _ body: (DumpRecord) -> Void) {
    var batch = DumpBatch()
    for (key, value) in pairs where last.lexicographicallyPrecedes(key) {
      guard key.count > contents.prefix.count else { continue }
      let type = unsafe value.withUnsafeBytes { unsafe contents.valueForm.type(of: $0) }
      batch.append(OwnedRecord(key: Array(key[contents.prefix.count...]), value: value, type: type))
    }
    batch.forEach(body)
  }
}
