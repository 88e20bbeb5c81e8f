/// A field of a ``SharedStruct`` not all of whose patterns of bits are values: which ones are. To load others would be
/// undefined behaviour, whoever stored them.
struct FieldBits: Sendable {
  /// In bytes, from the struct's start.
  let offset: Int
  let values: Values

  enum Values: Sendable {
    /// One byte, less than this.
    case below(UInt8)
    /// So many bytes, one of these patterns.
    case among([[UInt8]])
    /// Four bytes, a Unicode scalar value.
    case unicodeScalar
  }

  init(offset: Int, _ values: Values) {
    self.offset = offset
    self.values = values
  }

  /// - Parameter patterns: all that are values, of one length.
  init(offset: Int, patterns: [[UInt8]]) {
    let isCounted = patterns.count <= 255 && patterns.enumerated().allSatisfy { $1 == [UInt8(truncatingIfNeeded: $0)] }
    self.init(offset: offset, isCounted ? .below(UInt8(patterns.count)) : .among(patterns))
  }

  /// - Parameter bytes: all of a struct.
  func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch values {
    case .below(let end): unsafe bytes[offset] < end
    case .among(let patterns): patterns.contains { unsafe bytes[offset..<offset + $0.count].elementsEqual($0) }
    case .unicodeScalar:
      unsafe Unicode.Scalar(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) != nil
    }
  }
}

/// The name of an enum's case. Swift's runtime knows it, and the standard library shows it only in the description that a type has by
/// default: declared here as there (`_getEnumCaseName`).
@_silgen_name("swift_EnumCaseName")
private func caseName<T>(_ value: T) -> UnsafePointer<CChar>?

/// A type's values as patterns of bits.
enum FieldPatterns {
  /// Of all cases.
  static func of<Cases: CaseIterable>(_ type: Cases.Type) -> [[UInt8]] {
    Cases.allCases.map { value in pattern(value) }
  }

  /// Of all cases, and of nil.
  static func ofOptional<Cases: CaseIterable>(_ type: Cases.Type) -> [[UInt8]] {
    (Cases.allCases.map(Optional.some) + [nil]).map { value in pattern(value) }
  }

  private static func pattern<T>(_ value: T) -> [UInt8] {
    unsafe withUnsafePointer(to: value) { value in
      unsafe [UInt8](UnsafeRawBufferPointer(start: value, count: MemoryLayout<T>.size))
    }
  }

  /// What the cases are called in the source: a description of the type's own may be in a user's language.
  static func names<Cases: CaseIterable>(_ type: Cases.Type) -> [String] {
    Cases.allCases.map { value in
      // Nil of an enum that comes from C, or in a program without reflection.
      unsafe caseName(value).map { unsafe String(cString: $0) } ?? String(describing: value)
    }
  }

  /// Are there no cases? Then there would be nothing to compare bits with.
  static func isEmpty<Cases: CaseIterable>(_ type: Cases.Type) -> Bool { type.allCases.isEmpty }

  /// Has a case something with it? Then the cases are not all values.
  static func haveAssociatedValues<Cases: CaseIterable>(_ type: Cases.Type) -> Bool {
    Cases.allCases.contains { !Mirror(reflecting: $0).children.isEmpty }
  }
}

/// What a field of type `Optional` holds.
protocol OptionalField {
  static var wrapped: Any.Type { get }
  /// The size of the wrapped type, at which the byte lies that tells nil; nil if nil is told by bits of the wrapped type.
  static var tagOffset: Int? { get }
}

extension Optional: OptionalField {
  static var wrapped: Any.Type { Wrapped.self }
  static var tagOffset: Int? {
    MemoryLayout<Self>.size == MemoryLayout<Wrapped>.size + 1 ? MemoryLayout<Wrapped>.size : nil
  }
}

/// What a field of type `InlineArray` holds.
protocol InlineArrayField {
  static var element: Any.Type { get }
  static var elementCount: Int { get }
  /// In bytes, from one element to the next.
  static var stride: Int { get }
}

extension InlineArray: InlineArrayField {
  static var element: Any.Type { Element.self }
  static var elementCount: Int { count }
  static var stride: Int { MemoryLayout<Element>.stride }
}
