@_spi(Reflection) import Swift

/// What the fields of a ``SharedStruct`` say about its bytes.
final class StructLayout: Sendable {
  /// The type that it is of.
  let type: ObjectIdentifier
  let fingerprint: UInt64
  private let checks: [FieldValidator]
  private let padding: [Range<Int>]
  private let hasPadding: Bool

  /// - Throws: ``LayoutRefusal`` for a field that cannot be shared.
  init<T>(_ type: T.Type, schemaName: String) throws(LayoutRefusal) {
    var walk = FieldWalk(schemaName: schemaName)
    walk.fingerprint.fold(schemaName)
    walk.fingerprint.fold("\(MemoryLayout<T>.size) \(MemoryLayout<T>.alignment)")
    try walk.visit(type, at: 0, "")
    self.type = ObjectIdentifier(type)
    fingerprint = walk.fingerprint.value
    checks = walk.checks
    padding = walk.covered.padding(size: MemoryLayout<T>.size)
    hasPadding = !padding.isEmpty
  }

  /// Are these bytes, of the struct's size, a value?
  func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool { checks.allSatisfy { unsafe $0.accepts(bytes) } }

  /// Makes what lies between the fields zeros: another process must not see what a variable of this one has left there.
  /// - Parameter bytes: all of the struct.
  func clearPadding(_ bytes: UnsafeMutableRawBufferPointer) {
    // Each write of a struct comes here, and to look into an array counts a reference to it.
    guard hasPadding else { return }
    for range in padding { for index in range { unsafe bytes[index] = 0 } }
  }
}

/// Goes through all fields, nested ones too: a struct is what its fields are, since its own name holds a module's, which
/// differs between programs.
private struct FieldWalk {
  let schemaName: String
  var fingerprint = Fingerprint()
  var checks: [FieldValidator] = []
  var covered = CoveredBytes()

  init(schemaName: String) { self.schemaName = schemaName }

  /// - Parameters:
  ///   - base: where the field lies in the struct, in bytes.
  ///   - path: what it is called there, as `origin.x`.
  mutating func visit(_ type: Any.Type, at base: Int, _ path: String) throws(LayoutRefusal) {
    if type == Bool.self { checks.append(FieldValidator(offset: base, .below(2))) }
    if type == Unicode.Scalar.self { checks.append(FieldValidator(offset: base, .unicodeScalar)) }
    if let array = type as? any InlineArrayField.Type { return try visit(array, at: base, path) }
    switch kind(of: type) {
    case .struct, .tuple: try visitFields(of: type, at: base, path)
    case .optional: try visit(optional: type, at: base, path)
    case .enum: visit(cases: try cases(of: type, path), at: base, isOptional: false)
    default: throw refusal(path, "is a \(type), which means nothing in another process")
    }
  }

  private mutating func visitFields(of type: Any.Type, at base: Int, _ path: String) throws(LayoutRefusal) {
    var fields: [(name: String, offset: Int, type: Any.Type)] = []
    _ = unsafe _forEachField(of: type) { name, offset, fieldType, _ in
      unsafe fields.append((String(cString: name), base + offset, fieldType))
      return true
    }
    if fields.isEmpty { fingerprint.fold(String(describing: type)) }
    // All of a struct whose fields are not known, as a program may be built without their descriptions; and all of one of C's, whose
    // unions and bit-fields are none that Swift knows.
    if fields.isEmpty || String(reflecting: type).hasPrefix("__C.") { covered.add(base..<base + size(of: type)) }
    for (name, offset, fieldType) in fields {
      fingerprint.fold("\(name)@\(offset)")
      if kind(of: fieldType) == .opaque {
        try visit(builtin: fieldType, of: type, at: base, path)
      } else {
        try visit(fieldType, at: offset, path.isEmpty ? name : "\(path).\(name)")
      }
    }
  }

  /// What one of the standard library's types is made of: only those have such a field.
  private mutating func visit(
    builtin: Any.Type, of type: Any.Type, at base: Int, _ path: String
  ) throws(LayoutRefusal) {
    let name = String(describing: builtin)
    guard ["Builtin.Int", "Builtin.FP", "Builtin.Vec"].contains(where: name.hasPrefix) else {
      throw refusal(path, "is a \(type), and pointers mean nothing in another process")
    }
    // Integers of one width are made of the same, with a sign or without; floating-point numbers and `Bool` are not.
    if name.contains("Int"), type != Bool.self { fingerprint.fold(String(reflecting: type)) }
    fingerprint.fold(name)
    // The last six bytes of the type that has 80 bits are padding.
    covered.add(base..<base + (name == "Builtin.FPIEEE80" ? 10 : size(of: type)))
  }

  private mutating func visit(
    _ array: any InlineArrayField.Type, at base: Int, _ path: String
  ) throws(LayoutRefusal) {
    fingerprint.fold("InlineArray \(array.elementCount)")
    guard array.elementCount > 0 else { return }
    var first = FieldWalk(schemaName: schemaName)
    first.fingerprint = fingerprint
    try first.visit(array.element, at: base, "\(path)[0]")
    fingerprint = first.fingerprint
    for index in 0..<array.elementCount {
      let offset = index * array.stride
      checks += first.checks.map { FieldValidator(offset: $0.offset + offset, $0.values) }
      covered.add(first.covered, shiftedBy: offset)
    }
  }

  // MARK: - Enums and optionals

  private mutating func visit(optional type: Any.Type, at base: Int, _ path: String) throws(LayoutRefusal) {
    guard let optional = type as? any OptionalField.Type else {
      throw refusal(path, "is a \(type), whose bits cannot be checked")
    }
    fingerprint.fold("Optional")
    let wrapped = optional.wrapped
    if wrapped == Bool.self {
      fingerprint.fold("Bool")
      checks.append(FieldValidator(offset: base, .below(3)))
      covered.add(base..<base + 1)
    } else if kind(of: wrapped) == .enum {
      visit(cases: try cases(of: wrapped, path), at: base, isOptional: true)
    } else {
      // Nil leaves zeros where the wrapped value lies, so what is checked there holds for nil too.
      try visit(wrapped, at: base, path)
      guard let tag = optional.tagOffset else {
        throw refusal(path, "is a \(type), whose nil cannot be told from other bits; use a field of its own for that")
      }
      checks.append(FieldValidator(offset: base + tag, .below(2)))
      covered.add(base + tag..<base + tag + 1)
    }
  }

  private func cases(of type: Any.Type, _ path: String) throws(LayoutRefusal) -> any CaseIterable.Type {
    guard let cases = type as? any CaseIterable.Type else {
      throw refusal(
        path, "is the enum \(type), whose bits cannot be checked; make it CaseIterable, or store its raw value")
    }
    guard !CasePatterns.isEmpty(cases) else {
      throw refusal(path, "is the enum \(type), whose allCases is empty; name all of its cases there")
    }
    guard !CasePatterns.haveAssociatedValues(cases) else {
      throw refusal(path, "is the enum \(type) with associated values, whose bits cannot be checked")
    }
    return cases
  }

  /// The cases' names belong to the layout: another program's case of the same bits may be another.
  private mutating func visit(cases type: any CaseIterable.Type, at base: Int, isOptional: Bool) {
    CasePatterns.names(type).forEach { fingerprint.fold($0) }
    let patterns = isOptional ? CasePatterns.ofOptional(type) : CasePatterns.of(type)
    patterns.forEach { fingerprint.fold($0) }
    // An enum of one case has no bits.
    guard let first = patterns.first, !first.isEmpty else { return }
    checks.append(FieldValidator(offset: base, patterns: patterns))
    covered.add(base..<base + first.count)
  }

  /// A struct, an enum, or something else? Reflection tells that of fields only.
  private func kind<T>(of type: T.Type) -> _MetadataKind {
    var kind = _MetadataKind.unknown
    _ = unsafe _forEachField(of: Holder<T>.self) { _, _, _, fieldKind in
      kind = fieldKind
      return true
    }
    return kind
  }

  private func size<T>(of type: T.Type) -> Int { MemoryLayout<T>.size }

  private func refusal(_ path: String, _ why: String) -> LayoutRefusal {
    LayoutRefusal(
      description:
        "the SharedStruct '\(schemaName)' cannot be shared: \(path.isEmpty ? "it" : "its field '\(path)'") \(why)")
  }
}

/// Has a field of any type.
private struct Holder<T> { let field: T }
