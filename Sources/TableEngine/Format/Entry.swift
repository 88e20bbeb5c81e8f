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
  @usableFromInline static let maximumValueLength = Int(UInt32.max)
}

/// The third word of an entry, and the arithmetic of where things are in it.
///
/// Its fields have at most 32 bits: no sum of them overflows, so none is checked for it.
@frozen
public struct EntryMeta: Sendable, Equatable {
  public let raw: UInt64

  @inlinable @inline(__always)
  public init(raw: UInt64) { self.raw = raw }

  @inlinable @inline(__always)
  init(
    keyLength: Int, valueLength: Int, type: UInt8, tombstone: Bool = false, hasExpiry: Bool = false,
    hasFingerprint: Bool = false, alignmentShift: Int = 0
  ) {
    // What lies aligned by itself says nothing of it: then it is plain, and the quick reads take it.
    let end = Entry.headerBytes &+ (hasExpiry ? 8 : 0) &+ (hasFingerprint ? 8 : 0) &+ keyLength
    let shift = end & ((1 &<< alignmentShift) &- 1) == 0 ? 0 : alignmentShift
    let flags =
      (tombstone ? Self.tombstoneFlag : 0) | (hasExpiry ? Self.expiryFlag : 0)
      | (hasFingerprint ? Self.fingerprintFlag : 0) | UInt64(shift) << 2
    raw = UInt64(valueLength) | UInt64(keyLength &- 1) << 32 | flags << 48 | UInt64(type) << 56
  }

  @usableFromInline static let tombstoneFlag: UInt64 = 1
  @usableFromInline static let expiryFlag: UInt64 = 2
  @usableFromInline static let fingerprintFlag: UInt64 = 32

  @inlinable @inline(__always) public var valueLength: Int { Int(raw & 0xffff_ffff) }
  @inlinable @inline(__always) public var keyLength: Int { Int((raw >> 32) & 0xffff) + 1 }
  @inlinable @inline(__always) public var type: UInt8 { UInt8(truncatingIfNeeded: raw >> 56) }
  @inlinable @inline(__always) var flags: UInt64 { raw >> 48 & 0xff }
  @inlinable @inline(__always) public var isTombstone: Bool { flags & Self.tombstoneFlag != 0 }
  @inlinable @inline(__always) public var hasExpiry: Bool { flags & Self.expiryFlag != 0 }
  @inlinable @inline(__always) public var hasFingerprint: Bool { flags & Self.fingerprintFlag != 0 }
  /// It does not end, has no layout to compare, and is of this type (nil: of any): plain, but for padding.
  @inlinable @inline(__always)
  func isUnconditional(type: UInt8?) -> Bool { !hasExpiry && !hasFingerprint && (type == nil || type == self.type) }
  /// Base-2 logarithm of what the value is to be aligned to, 0 to 4; 0 where it is without padding.
  @inlinable @inline(__always) var alignmentShift: Int { Int((flags >> 2) & 7) }

  @inlinable @inline(__always)
  var keyOffset: Int {
    Entry.headerBytes &+ (hasExpiry ? 8 : 0) &+ (hasFingerprint ? 8 : 0)
  }
  @inlinable @inline(__always) var expiryOffset: Int { Entry.headerBytes }
  @inlinable @inline(__always) var fingerprintOffset: Int { Entry.headerBytes + (hasExpiry ? 8 : 0) }

  @inlinable @inline(__always)
  var valueOffset: Int {
    let end = keyOffset &+ keyLength
    let mask = (1 &<< alignmentShift) &- 1
    return (end &+ mask) & ~mask
  }

  @inlinable @inline(__always) var byteCount: Int { valueOffset &+ valueLength }
}

/// The upper half of an entry's third word, which says at once whether the entry is as most are.
@frozen @usableFromInline
struct EntryKind {
  @usableFromInline let raw: UInt32

  @inlinable @inline(__always)
  init(raw: UInt32) { self.raw = raw }

  /// A key of this length, and a value of this type (nil: of any) right behind it that does not end: no tombstone, expiry,
  /// fingerprint, padding.
  @inlinable @inline(__always)
  func isPlain(keyLength: Int, type: UInt8?) -> Bool {
    let length = UInt32(truncatingIfNeeded: keyLength &- 1)
    guard let type else { return raw & 0xff_ffff == length }
    return raw == length | UInt32(type) << 24
  }
}

/// What is stored with a value besides its bytes.
public struct ValueAttributes: Sendable, Equatable {
  /// The typed API's code for what the bytes are; the engine only keeps it.
  public var type: UInt8
  /// Nanoseconds since 1970 from which on the value is gone; 0 = never.
  public var expiry: UInt64
  /// Layout or schema fingerprint, 0 = none.
  public var fingerprint: UInt64
  /// Base-2 logarithm of the value's alignment, 0 to 4.
  public var alignmentShift: Int

  public init(type: UInt8 = 0, expiry: UInt64 = 0, fingerprint: UInt64 = 0, alignmentShift: Int = 0) {
    self.type = type
    self.expiry = expiry
    self.fingerprint = fingerprint
    self.alignmentShift = alignmentShift
  }
}

extension EntryMeta {
  /// Of a value under a key.
  @inline(__always)
  init(keyLength: Int, valueLength: Int, _ attributes: ValueAttributes) {
    self.init(
      keyLength: keyLength, valueLength: valueLength, type: attributes.type, hasExpiry: attributes.expiry != 0,
      hasFingerprint: attributes.fingerprint != 0, alignmentShift: attributes.alignmentShift)
  }
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
