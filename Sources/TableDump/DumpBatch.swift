import TableEngine

/// Records read from a dump: checked, and not yet applied.
public struct DumpBatch {
  struct Item {
    let key: Range<Int>
    let value: Range<Int>
    let attributes: ValueAttributes
    let version: UInt64
  }

  var storage: [UInt8] = []
  var items: [Item] = []

  public init() {}

  public var count: Int { items.count }
  public var isEmpty: Bool { items.isEmpty }

  /// Calls `body` with the records of a range, in the dump's order.
  public func forEach(_ range: Range<Int>, _ body: (DumpRecord) throws -> Void) rethrows {
    try unsafe storage.withUnsafeBytes { bytes in
      for item in items[range] {
        try unsafe body(
          DumpRecord(
            key: UnsafeRawBufferPointer(rebasing: bytes[item.key]),
            value: UnsafeRawBufferPointer(rebasing: bytes[item.value]), attributes: item.attributes,
            version: item.version))
      }
    }
  }

  public func forEach(_ body: (DumpRecord) throws -> Void) rethrows { try forEach(0..<count, body) }

  /// Bytes of key and value of a record, for who bounds what goes into a barrier.
  public func byteCount(_ index: Int) -> Int { items[index].key.count + items[index].value.count }

  /// Copies a record, for who makes batches of what is no dump.
  public mutating func append(_ record: DumpRecord) {
    let start = storage.count
    unsafe storage.append(contentsOf: record.key)
    let middle = storage.count
    unsafe storage.append(contentsOf: record.value)
    items.append(
      Item(
        key: start..<middle, value: middle..<storage.count, attributes: record.attributes, version: record.version))
  }

  public mutating func append(_ record: OwnedRecord) { unsafe record.withRecord { append($0) } }

  /// Whether there is as much in it as in a dump's block.
  public var isFull: Bool { storage.count >= BinaryForm.blockBytes || count >= 8192 }

  public mutating func removeAll() {
    storage.removeAll(keepingCapacity: storage.count <= 4 << 20)
    items.removeAll(keepingCapacity: true)
  }
}
