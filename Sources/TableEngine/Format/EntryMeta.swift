import CShims

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
    // A value that is aligned without padding gets no flag for its alignment: then it is plain, and the quick reads
    // take it.
    let end = Entry.headerBytes &+ (hasExpiry ? 8 : 0) &+ (hasFingerprint ? 8 : 0) &+ keyLength
    let shift = end & ((1 &<< alignmentShift) &- 1) == 0 ? 0 : alignmentShift
    let flags =
      (tombstone ? Self.tombstoneFlag : 0) | (hasExpiry ? Self.expiryFlag : 0)
      | (hasFingerprint ? Self.fingerprintFlag : 0) | UInt64(shift) << UInt64(SHM_ENTRY_ALIGNMENT_SHIFT)
    raw = UInt64(valueLength) | UInt64(keyLength &- 1) << 32 | flags << 48 | UInt64(type) << 56
  }

  /// This word with another length of the value, and without slack.
  @inline(__always)
  func with(valueLength: Int) -> EntryMeta {
    EntryMeta(raw: raw & ~(0xffff_ffff | Self.slackFlag << 48) | UInt64(truncatingIfNeeded: valueLength))
  }

  /// This word of an entry with slack, or of one without.
  func with(slack: Bool) -> EntryMeta {
    EntryMeta(raw: slack ? raw | Self.slackFlag << 48 : raw & ~(Self.slackFlag << 48))
  }

  @usableFromInline static let tombstoneFlag = UInt64(SHM_ENTRY_TOMBSTONE)
  @usableFromInline static let expiryFlag = UInt64(SHM_ENTRY_EXPIRY)
  @usableFromInline static let fingerprintFlag = UInt64(SHM_ENTRY_FINGERPRINT)
  static let slackFlag = UInt64(SHM_ENTRY_SLACK)

  @inlinable @inline(__always) public var valueLength: Int { Int(raw & 0xffff_ffff) }
  @inlinable @inline(__always) public var keyLength: Int { Int((raw >> 32) & 0xffff) + 1 }
  @inlinable @inline(__always) public var type: UInt8 { UInt8(truncatingIfNeeded: raw >> 56) }
  @inlinable @inline(__always) var flags: UInt64 { raw >> 48 & 0xff }
  @inlinable @inline(__always) public var isTombstone: Bool { flags & Self.tombstoneFlag != 0 }
  @inlinable @inline(__always) public var hasExpiry: Bool { flags & Self.expiryFlag != 0 }
  @inlinable @inline(__always) public var hasFingerprint: Bool { flags & Self.fingerprintFlag != 0 }
  var hasSlack: Bool { flags & Self.slackFlag != 0 }
  /// It has neither an expiry nor a fingerprint to compare, and is of this type (nil: of any): plain, but for padding.
  @inlinable @inline(__always)
  func isUnconditional(type: UInt8?) -> Bool { !hasExpiry && !hasFingerprint && (type == nil || type == self.type) }
  /// Base-2 logarithm of what the value is to be aligned to, 0 to 4; 0 where it is without padding.
  @inlinable @inline(__always) public var alignmentShift: Int { Int((flags >> UInt64(SHM_ENTRY_ALIGNMENT_SHIFT)) & 7) }

  @inlinable @inline(__always)
  var keyOffset: Int {
    Entry.headerBytes &+ (hasExpiry ? 8 : 0) &+ (hasFingerprint ? 8 : 0)
  }
  /// Has the key so many bytes, and does it follow the header? One look at both.
  @inlinable @inline(__always)
  func isOfKeyBehindHeader(_ length: Int) -> Bool {
    let mask = 0xffff | (Self.expiryFlag | Self.fingerprintFlag) << 16
    return raw >> 32 & mask == UInt64(truncatingIfNeeded: length &- 1)
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

  /// Could a writer have written it? Readers do not look at all that this looks at.
  var isPossible: Bool { flags >> 7 == 0 && alignmentShift <= 4 && (!isTombstone || valueLength == 0) }

  /// Neither expiry nor fingerprint nor padding nor slack: key and value follow the header, and the block is as large as they need.
  @inline(__always)
  var isCompact: Bool { flags & ~Self.tombstoneFlag == 0 }

  /// Do key, value and what comes before them take the same room? Types do not matter.
  @inline(__always)
  func isAsLarge(as other: EntryMeta) -> Bool { (raw ^ other.raw) << 8 == 0 }

  /// Of a compact entry.
  @inline(__always)
  static func compactByteCount(_ keyLength: Int, _ valueLength: Int) -> Int {
    Entry.headerBytes &+ keyLength &+ valueLength
  }
}

extension EntryMeta {
  /// Of a value under a key.
  @inline(__always)
  init(keyLength: Int, valueLength: Int, _ attributes: ValueAttributes) {
    if attributes.isCompact {
      self.init(
        raw: UInt64(truncatingIfNeeded: valueLength) | UInt64(truncatingIfNeeded: keyLength &- 1) << 32
          | UInt64(attributes.type) << 56)
      return
    }
    self.init(
      keyLength: keyLength, valueLength: valueLength, type: attributes.type, hasExpiry: attributes.expiry != 0,
      hasFingerprint: attributes.fingerprint != 0, alignmentShift: attributes.alignmentShift)
  }
}
