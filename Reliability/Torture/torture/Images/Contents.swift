import CShims
import SharedTable

/// What a table holds, in few words: any order of its keys gives the same.
struct Contents: Equatable, CustomStringConvertible {
  var count = 0
  var digest: UInt64 = 0

  mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    count += 1
    let value = value.count == 0 ? 1 : shm_hash(value.baseAddress!, value.count, 2)
    digest &+= (shm_hash(key.baseAddress!, key.count, 1) ^ (value &<< 17 | value &>> 47)) &* 0x9e37_79b9_7f4a_7c15
  }

  init() {}

  init(_ model: [[UInt8]: [UInt8]]) {
    for (key, value) in model { key.withUnsafeBytes { k in value.withUnsafeBytes { add(k, $0) } } }
  }

  /// Of one snapshot of a table.
  init(of table: Table) throws {
    var contents = Contents()
    try table.read { (view: borrowing ReadView) in
      try view.forEach { key, entry in
        let bytes = entry.bytes
        key.withUnsafeBytes { k in bytes.withUnsafeBytes { contents.add(k, $0) } }
      }
    }
    self = contents
  }

  var description: String { "\(count):\(digest)" }

  init?(_ text: Substring) {
    let parts = text.split(separator: ":")
    guard parts.count == 2, let count = Int(parts[0]), let digest = UInt64(parts[1]) else { return nil }
    (self.count, self.digest) = (count, digest)
  }
}
