public import TableEngine

/// A key with its value and what is stored beside it. The bytes are valid during the call that hands it out.
@safe
public struct DumpRecord {
  public let key: UnsafeRawBufferPointer
  public let value: UnsafeRawBufferPointer
  public let attributes: ValueAttributes
  /// Of the barrier that stored it.
  public let version: UInt64

  @unsafe
  public init(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, attributes: ValueAttributes, version: UInt64
  ) {
    unsafe self.key = key
    unsafe self.value = value
    self.attributes = attributes
    self.version = version
  }

  /// Whether the value is of a program's own form, such as a struct, and means nothing to others.
  public var isOpaque: Bool { attributes.fingerprint != 0 }

  /// Of the value and its type, without expiry and version: equal for equal ones, and for others never in practice.
  public var digest: [UInt64] {
    let form: UInt64 = attributes.fingerprint &* 257 &+ UInt64(attributes.type)
    // Two seeds, 128 bits.
    return unsafe [
      BinaryForm.checksum(value, seed: form), BinaryForm.checksum(value, seed: form ^ (1 << 63)),
    ]
  }

  /// Copies.
  public var keyBytes: [UInt8] { unsafe [UInt8](key) }
  public var valueBytes: [UInt8] { unsafe [UInt8](value) }
}
