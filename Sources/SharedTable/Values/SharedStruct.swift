@_spi(Reflection) import Swift
import Synchronization
import TableEngine

/// A `BitwiseCopyable` struct that processes share as it lies in memory.
///
/// ```swift
/// struct Sample: SharedStruct {
///   static let schemaName = "com.example.sample"
///   var time: UInt64
///   var value: Double
/// }
/// ```
/// Two programs that declare the same schema name and the same fields (names, order, types, layout) share the
/// type. Any difference changes the fingerprint, and reading the other's values throws `typeMismatch`: migrate them in
/// one barrier, reading with the old struct and writing with the new one.
///
/// Pointers mean nothing in another process: a struct with a pointer field is refused when it is first used.
public protocol SharedStruct: TableValue, BitwiseCopyable {
  /// Names the type across programs: module and type names differ between executables.
  static var schemaName: String { get }
}

extension SharedStruct {
  /// `structure`.
  public static var tableType: ValueType { .structure }
  /// Of schema name, size, alignment and fields; never 0.
  public static var tableFingerprint: UInt64 { Fingerprints.of(Self.self, schemaName) }
}

/// Layout fingerprints, computed once a type: FNV-1a over schema name, size, alignment and fields.
enum Fingerprints {
  private static let known = Mutex<[ObjectIdentifier: UInt64]>([:])

  static func of<T>(_ type: T.Type, _ schemaName: String) -> UInt64 {
    let id = ObjectIdentifier(type)
    if let known = known.withLock({ $0[id] }) { return known }
    let fingerprint = compute(type, schemaName)
    known.withLock { $0[id] = fingerprint }
    return fingerprint
  }

  /// The fingerprint of a stored form that has a name and no layout to take apart.
  static func named(_ name: String) -> UInt64 { fold(0xcbf2_9ce4_8422_2325, name) | 1 }

  private static func compute<T>(_ type: T.Type, _ schemaName: String) -> UInt64 {
    var hash = fold(0xcbf2_9ce4_8422_2325, schemaName)
    hash = fold(hash, "\(MemoryLayout<T>.size) \(MemoryLayout<T>.alignment)")
    describe(type, at: 0, into: &hash)
    return hash | 1
  }

  /// Folds in every stored field, nested structs by their own fields: a module's name must not matter.
  private static func describe(_ type: Any.Type, at base: Int, into hash: inout UInt64) {
    var fields: [(String, Int, Any.Type)] = []
    _ = unsafe _forEachField(of: type) { name, offset, fieldType, _ in
      unsafe fields.append((String(cString: name), base + offset, fieldType))
      return true
    }
    if fields.isEmpty {
      let name = String(describing: type)
      precondition(
        !name.contains("Pointer"), "a SharedStruct holds a \(name): pointers mean nothing in another process")
      hash = fold(hash, name)
    }
    for (name, offset, fieldType) in fields {
      hash = fold(hash, "\(name)@\(offset)")
      describe(fieldType, at: offset, into: &hash)
    }
  }

  private static func fold(_ start: UInt64, _ text: String) -> UInt64 {
    var hash = start
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    return (hash ^ 0xff) &* 0x0000_0100_0000_01b3
  }
}
