package import TableEngine

/// What a key is to a collection or cache: its name, or one of the keys that lie behind the name.
///
/// For tools that show and change keys without knowing the types: a collection whose keys are changed one by one is damaged.
public struct CollectionMembership: Sendable, Equatable {
  /// The collection's name, which is the key of its header.
  public let name: [UInt8]
  /// What it is: such as `dictionary of string to integer`, or `cache`.
  public let kind: String
  /// Whether the key is the name itself, and not one of its elements'.
  public let isHeader: Bool
}

extension CollectionMembership {
  /// The part of a key that may be a collection's name: up to the first slash or number sign, which no name holds.
  public static func namePart<Key: Collection<UInt8>>(of key: Key) -> Key.SubSequence {
    key.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "#") }
  }

  /// Whether a value is the header of a collection, be it a damaged one.
  package static func isHeader(_ attributes: ValueAttributes, _ value: UnsafeRawBufferPointer) -> Bool {
    unsafe attributes.hasForm(StoredForm(of: CollectionHeader.self)) || CacheHead.isOfACache(attributes, value)
  }

  /// Nil if what lies under a name is the header of no collection.
  static func kind(_ entry: borrowing EntryView) -> String? {
    if entry.hasForm(of: CollectionHeader.self) {
      guard let header = entry.value(as: CollectionHeader.self) else { return "damaged collection" }
      return String(header.signature.prefix(200))
    }
    return CacheHead.isOfACache(entry.found) ? "cache" : nil
  }
}

extension TableSection where Self: ~Copyable & ~Escapable {
  /// The collection or cache that a key belongs to, as this section sees it; nil if there is none.
  ///
  /// One look at the key up to its first `/` or `#`. In a barrier of some keys, that part must be among them.
  /// - Throws: what ``withEntry(_:_:)`` throws.
  public func collection(of key: some TableKey) throws(TableError) -> CollectionMembership? {
    try unsafe key.withKeyBytes { bytes throws(TableError) in try unsafe collection(ofBytes: bytes) }
  }

  /// As ``collection(of:)``, for a key's bytes.
  package func collection(ofBytes key: UnsafeRawBufferPointer) throws(TableError) -> CollectionMembership? {
    let name = unsafe UnsafeRawBufferPointer(rebasing: CollectionMembership.namePart(of: key))
    guard Table.keyLengths ~= name.count,
      case let kind?? = try withEntry(unsafe RawKey(name), { entry in CollectionMembership.kind(entry) })
    else { return nil }
    return unsafe CollectionMembership(name: [UInt8](name), kind: kind, isHeader: name.count == key.count)
  }
}
