public import SharedTable
package import TableEngine
package import ToolSupport

/// A record with bytes of its own, for tools that make, read or change one at a time.
public struct OwnedRecord: Equatable, Sendable {
  public var key: [UInt8]
  public var value: [UInt8]
  package var attributes: ValueAttributes

  public init(key: [UInt8], value: [UInt8], type: ValueType) {
    self.key = key
    self.value = value
    attributes = ValueAttributes(type: type.rawValue)
  }

  package init(key: [UInt8], value: [UInt8], attributes: ValueAttributes) {
    self.key = key
    self.value = value
    self.attributes = attributes
  }

  public init(_ record: DumpRecord) {
    self.init(key: record.keyBytes, value: record.valueBytes, attributes: record.attributes)
  }

  /// From a line of JSON that is a record's, and may have other members besides.
  /// - Throws: what is wrong.
  package init(_ fields: JSONFields, others: Swift.Set<String>) throws(JSONForm.Wrong) {
    let record = try JSONForm.record(fields, known: JSONForm.names.union(others))
    self.init(key: record.key, value: record.value, attributes: record.attributes)
  }

  /// Nil for a type that this release does not know.
  public var type: ValueType? { ValueType(rawValue: attributes.type) }
  /// Nanoseconds since 1970; 0 for never.
  public var expiry: UInt64 {
    get { attributes.expiry }
    set { attributes.expiry = newValue }
  }
  /// Whether the value is of a program's own form, such as a struct, and means nothing to others.
  public var isOpaque: Bool { attributes.fingerprint != 0 }

  /// The members of its line of JSON.
  package func describe(in object: inout JSONObject) {
    object.add("key", bytes: key)
    unsafe withRecord { record in JSONForm.add(record, to: &object) }
  }

  @unsafe
  func withRecord<R, E: Error>(_ body: (DumpRecord) throws(E) -> R) throws(E) -> R {
    try unsafe key.withKeyBytes { key throws(E) in
      try unsafe value.withKeyBytes { value throws(E) in
        try unsafe body(DumpRecord(key: key, value: value, attributes: attributes, version: 0))
      }
    }
  }
}

extension Transaction {
  /// The record of a key, as this barrier sees it; nil if there is none.
  public func record(_ key: [UInt8]) throws(TableError) -> OwnedRecord? {
    try carried(key).map { OwnedRecord(key: key, value: $0.bytes, attributes: $0.attributes) }
  }

  /// Stores a record as it is.
  public mutating func store(_ record: OwnedRecord) throws(TableError) {
    try unsafe record.key.withKeyBytes { key throws(TableError) in
      try unsafe record.value.withKeyBytes { value throws(TableError) in
        try unsafe carry(key, value, record.attributes)
      }
    }
  }
}
