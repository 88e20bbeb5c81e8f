public import TableEngine

/// A key with its value and what is stored beside it. The bytes are valid during the call that hands it out.
@safe
public struct DumpRecord {
  public let key: UnsafeRawBufferPointer
  public let value: UnsafeRawBufferPointer
  public let attributes: ValueAttributes
  /// Of the barrier that stored it.
  public let version: UInt64

  @unsafe
  public init(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, attributes: ValueAttributes, version: UInt64
  ) {
    unsafe self.key = key
    unsafe self.value = value
    self.attributes = attributes
    self.version = version
  }

  /// Whether the value is of a program's own form, such as a struct, and means nothing to others.
  public var isOpaque: Bool { attributes.fingerprint != 0 }

  /// Of the value and its type, without expiry and version: equal for equal ones, and for others never in practice.
  public var digest: [UInt64] {
    let form: UInt64 = attributes.fingerprint &* 257 &+ UInt64(attributes.type)
    // Two seeds, 128 bits.
    return unsafe [
      BinaryForm.checksum(value, seed: form), BinaryForm.checksum(value, seed: form ^ (1 << 63)),
    ]
  }

  /// Copies.
  public var keyBytes: [UInt8] { unsafe [UInt8](key) }
  public var valueBytes: [UInt8] { unsafe [UInt8](value) }
}

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
