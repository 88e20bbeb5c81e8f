import SharedTable
import ToolSupport

/// A key and what is to be said about it, copied out of a section.
struct ListedKey {
  let key: [UInt8]
  let type: ValueType?
  let byteCount: Int
  let version: UInt64
  let expiry: UInt64?
  let collection: CollectionMembership?

  init(_ key: [UInt8], _ entry: borrowing EntryView, collection: CollectionMembership?) {
    self.key = key
    type = entry.type
    byteCount = entry.bytes.byteCount
    version = entry.version
    expiry = entry.expiry
    self.collection = collection
  }
}

extension JSONObject {
  /// What a key belongs to, and whether it is the collection's own.
  mutating func add(collection: CollectionMembership) {
    add("collection", bytes: collection.name)
    add("collectionKind", collection.kind)
    add("isHeader", collection.isHeader)
  }
}
