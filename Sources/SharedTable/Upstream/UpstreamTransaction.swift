/// What `table.upstream.transaction` gives its closure: the mirror at one revision, with the changes that the closure has
/// made so far. None of them is made before the closure returns.
///
/// Cannot be copied, returned, stored, captured or carried over an `await`.
@safe
public struct UpstreamTransaction: ~Copyable, ~Escapable {
  private let view: ReadView
  private let draft: UpstreamDraft

  @_lifetime(copy view)
  init(_ view: ReadView, _ draft: UpstreamDraft) {
    self.view = view
    self.draft = draft
  }

  /// A key's value as text; nil if it is absent.
  /// - Throws: `typeMismatch` if it is no UTF-8; what a `get` throws.
  public func get(_ key: some TableKey) throws(TableError) -> String? {
    guard let bytes = try bytes(forKey: key) else { return nil }
    guard let text = unsafe bytes.withUnsafeBytes({ unsafe String(tableBytes: $0) }) else {
      throw TableError(
        .typeMismatch, table: view.table.name, "the value of '\(key.shown)' is no text; read it by 'bytes(forKey:)'")
    }
    return text
  }

  /// A key's value; nil if it is absent.
  /// - Throws: what a `get` throws.
  public func bytes(forKey key: some TableKey) throws(TableError) -> [UInt8]? {
    try draft.value(of: unsafe key.withKeyBytes { unsafe [UInt8]($0) }, view)
  }

  /// Whether a key is there.
  /// - Throws: what a `get` throws.
  public func contains(_ key: some TableKey) throws(TableError) -> Bool { try bytes(forKey: key) != nil }

  /// Stores text.
  /// - Throws: `tooLarge`, `invalid`.
  public mutating func set(_ key: some TableKey, _ value: String) throws(TableError) {
    try set(key, Array(value.utf8))
  }

  /// Stores bytes.
  /// - Throws: `tooLarge`, `invalid`.
  public mutating func set(_ key: some TableKey, _ value: [UInt8]) throws(TableError) {
    try draft.set(unsafe key.withKeyBytes { unsafe [UInt8]($0) }, value)
  }

  /// Removes a key.
  /// - Returns: whether it was there.
  /// - Throws: `invalid`; what a `get` throws.
  @discardableResult
  public mutating func remove(_ key: some TableKey) throws(TableError) -> Bool {
    let isThere = try contains(key)
    try draft.set(unsafe key.withKeyBytes { unsafe [UInt8]($0) }, nil)
    return isThere
  }
}
