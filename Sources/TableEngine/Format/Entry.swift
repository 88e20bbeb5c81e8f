import CShims

/// One version of one key: `struct shm_entry` in `shm_format.h`. Immutable once published, but for `prev`: an unlink pass
/// shortens the chain, its undo restores it, and a repair cuts it off. Its lengths, flags and type are one word here, ``EntryMeta``.
@frozen @usableFromInline
enum Entry {
  @usableFromInline static let version = shm_entry_version_offset
  @usableFromInline static let prev = shm_entry_prev_offset
  @usableFromInline static let meta = shm_entry_value_length_offset
  /// The halves of `meta`: both supported machines are little-endian.
  @usableFromInline static let valueLength = shm_entry_value_length_offset
  @usableFromInline static let kind = shm_entry_key_length_less_1_offset
  @usableFromInline static let headerBytes = shm_entry_size
}

extension MappedMemory {
  /// Writes an entry whole, but shows it to nobody.
  @inline(__always)
  func storeEntry(
    _ entry: Int, _ meta: EntryMeta, _ attributes: ValueAttributes, _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer, version: UInt64, previous: Int
  ) {
    storeRelaxed(entry &+ Entry.version, version)
    storeRelaxed(entry &+ Entry.prev, UInt64(truncatingIfNeeded: previous))
    storeRelaxed(entry &+ Entry.meta, meta.raw)
    guard attributes.isCompact else { return unsafe storeParts(entry, meta, attributes, key, value) }
    let body = entry &+ Entry.headerBytes
    unsafe copy(key.baseAddress!, count: key.count, to: body)
    if let bytes = value.baseAddress { unsafe copyValue(bytes, count: value.count, to: body &+ key.count) }
  }

  /// Writes an entry without its value, and shows it to nobody. What lies between header and value is copied from another entry of the key.
  @inline(__always)
  func storeEntry(_ entry: Int, _ meta: EntryMeta, _ head: UnsafeRawBufferPointer, version: UInt64, previous: Int) {
    storeRelaxed(entry &+ Entry.version, version)
    storeRelaxed(entry &+ Entry.prev, UInt64(truncatingIfNeeded: previous))
    storeRelaxed(entry &+ Entry.meta, meta.raw)
    unsafe copy(head.baseAddress.unsafelyUnwrapped, count: head.count, to: entry &+ Entry.headerBytes)
  }

  /// What follows the header of an entry that is not compact.
  @inline(never)
  private func storeParts(
    _ entry: Int, _ meta: EntryMeta, _ attributes: ValueAttributes, _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer
  ) {
    let valueOffset = meta.valueOffset
    zeroPadding(endingAt: entry &+ valueOffset, room: valueOffset &- Entry.headerBytes)
    if meta.hasExpiry { storeRelaxed(entry &+ meta.expiryOffset, attributes.expiry) }
    if meta.hasFingerprint { storeRelaxed(entry &+ meta.fingerprintOffset, attributes.fingerprint) }
    unsafe copy(key.baseAddress!, count: key.count, to: entry &+ meta.keyOffset)
    if value.count > 0 { unsafe copy(value.baseAddress!, count: value.count, to: entry &+ valueOffset) }
  }

  /// Zeros the padding before a value, which is at most 15 bytes: so few need no call.
  /// - Parameter room: how many bytes there are between the header and the value; the rest of them is stored afterwards.
  @inline(__always)
  private func zeroPadding(endingAt end: Int, room: Int) {
    if room >= 16 {
      unsafe base.storeBytes(of: 0, toByteOffset: end &- 16, as: UInt128.self)
    } else {
      zero(end &- room, count: room)
    }
  }
}
