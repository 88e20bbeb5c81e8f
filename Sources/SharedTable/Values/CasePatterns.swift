/// The name of an enum's case. Swift's runtime knows it, and the standard library shows it only in the description that a type has by
/// default: declared here as there (`_getEnumCaseName`).
@_silgen_name("swift_EnumCaseName")
private func caseName<T>(_ value: T) -> UnsafePointer<CChar>?

/// The cases of an enum as patterns of bits, and what they are called.
enum CasePatterns {
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
