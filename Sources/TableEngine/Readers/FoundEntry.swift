import CShims

/// A value as a read found it, in place or (for an observer) in a copy.
///
/// Valid only inside the section it was found in.
@frozen @safe
public struct FoundEntry {
  @usableFromInline let entry: UnsafeRawPointer
  public let meta: EntryMeta

  @inlinable @inline(__always)
  init(entry: UnsafeRawPointer, meta: EntryMeta) {
    unsafe self.entry = entry
    self.meta = meta
  }

  @inlinable @inline(__always)
  public var version: UInt64 { unsafe entry.load(as: UInt64.self) }

  /// Nanoseconds since 1970, or 0 for never.
  @inlinable
  public var expiry: UInt64 {
    meta.hasExpiry ? unsafe entry.load(fromByteOffset: meta.expiryOffset, as: UInt64.self) : 0
  }

  /// Has the value expired? At its very instant it has.
  /// - Parameter now: evaluated only if the value has an expiry: to read a clock costs more than the rest of a look.
  @inlinable @inline(__always)
  func isExpired(at now: @autoclosure () -> UInt64) -> Bool { meta.hasExpiry && expiry <= now() }

  @inlinable
  public var fingerprint: UInt64 {
    meta.hasFingerprint ? unsafe entry.load(fromByteOffset: meta.fingerprintOffset, as: UInt64.self) : 0
  }

  /// Is its value of the type and layout that these attributes name?
  @inline(__always)
  func hasForm(of attributes: ValueAttributes) -> Bool {
    meta.type == attributes.type && fingerprint == attributes.fingerprint
  }

  @inlinable @inline(__always)
  public var value: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: entry + meta.valueOffset, count: meta.valueLength)
  }

  /// What lies between header and value: attributes, key and padding.
  @inline(__always)
  func head(before valueOffset: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: entry + Entry.headerBytes, count: valueOffset &- Entry.headerBytes)
  }

  @inlinable @inline(__always)
  public var key: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: entry + meta.keyOffset, count: meta.keyLength)
  }
}

extension FoundEntry {
  /// As they were given to ``Barriers/put(_:_:_:)``; the alignment as far as it shows.
  package var attributes: ValueAttributes {
    ValueAttributes(type: meta.type, expiry: expiry, fingerprint: fingerprint, alignmentShift: meta.alignmentShift)
  }
}
