/// Channels on which the server speaks.
enum ReservedChannel {
  private static let keyspace: StaticString = "__keyspace@"
  private static let all: [StaticString] = [keyspace, "__keyevent@", "__redis__:"]

  static func isReserved(_ channel: Bytes) -> Bool { all.contains { channel.begins(with: $0) } }

  static func keyspace(_ table: Int, _ key: [UInt8]) -> [UInt8] { Array("\(keyspace)\(table)__:".utf8) + key }
  static func keyevent(_ table: Int, _ event: String) -> [UInt8] { Array("__keyevent@\(table)__:\(event)".utf8) }

  /// Of `__keyspace@N__:KEY` the table's place and the key.
  static func key(of channel: Bytes) -> (table: Int, key: Bytes)? {
    guard channel.begins(with: keyspace) else { return nil }
    let rest = channel.suffix(from: keyspace.utf8CodeUnitCount)
    guard let end = unsafe rest.raw.firstIndex(of: UInt8(ascii: "_")), rest.suffix(from: end).begins(with: "__:"),
      let table = unsafe Bytes(UnsafeRawBufferPointer(rebasing: rest.raw[..<end])).integer, table >= 0
    else { return nil }
    return (table, rest.suffix(from: end + 3))
  }
}

extension Bytes {
  fileprivate func begins(with text: StaticString) -> Bool {
    guard count >= text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount where unsafe self[index] != text.utf8Start[index] { return false }
    return true
  }
}
