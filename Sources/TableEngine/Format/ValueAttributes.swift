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

  /// Has a value with these attributes expired?
  public func hasExpired(at now: UInt64) -> Bool { expiry != 0 && expiry <= now }

  /// Nothing lies between header, key and value for them.
  @inline(__always)
  var isCompact: Bool { expiry | fingerprint | UInt64(truncatingIfNeeded: alignmentShift) == 0 }
}
