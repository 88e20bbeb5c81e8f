/// One version of one key. Immutable once published, but for `prev`, which gc and undo may cut shorter.
///
/// ```
///  0 version   8 prev   16 meta   24 [expiry 8] [fingerprint 8] key, zeroed padding, value
/// meta: valueLength (32 bits) | keyLength - 1 (16) | flags (8) | type (8)
/// ```
@frozen @usableFromInline
enum Entry {
  @usableFromInline static let version = 0
  @usableFromInline static let prev = 8
  @usableFromInline static let meta = 16
  /// The halves of `meta`: both supported machines are little-endian.
  @usableFromInline static let valueLength = 16
  @usableFromInline static let kind = 20
  @usableFromInline static let headerBytes = 24

  @usableFromInline static let maximumKeyLength = 65_536
  /// What the largest block has room for behind a header with expiry and fingerprint, the longest key and padding. A longer
  /// value's size code would run over into the offset of its ``BlockRef``.
  static let maximumValueLength = BlockRef.maximumByteCount - headerBytes - 16 - maximumKeyLength - 16
}

extension Memory {
  /// Writes an entry whole, but shows it to nobody.
  func storeEntry(
    _ entry: Int, _ meta: EntryMeta, _ attributes: ValueAttributes, _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer, version: UInt64, previous: Int
  ) {
    storeRelaxed(entry + Entry.version, version)
    storeRelaxed(entry + Entry.prev, UInt64(previous))
    storeRelaxed(entry + Entry.meta, meta.raw)
    if meta.hasExpiry { storeRelaxed(entry + meta.expiryOffset, attributes.expiry) }
    if meta.hasFingerprint { storeRelaxed(entry + meta.fingerprintOffset, attributes.fingerprint) }
    unsafe copy(key.baseAddress!, count: key.count, to: entry + meta.keyOffset)
    let keyEnd = meta.keyOffset + key.count
    if meta.valueOffset > keyEnd { zero(entry + keyEnd, count: meta.valueOffset - keyEnd) }
    if value.count > 0 { unsafe copy(value.baseAddress!, count: value.count, to: entry + meta.valueOffset) }
  }
}
