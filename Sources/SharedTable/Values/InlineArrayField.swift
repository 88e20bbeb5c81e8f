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
