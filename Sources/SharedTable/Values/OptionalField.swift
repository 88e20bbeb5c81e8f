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
