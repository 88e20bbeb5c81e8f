import ArgumentParser

/// The types as flags.
enum KindFlag: String, EnumerableFlag {
  case string, bytes, int, double, bool
  case json = "json-value"

  var kind: ValueKind {
    switch self {
    case .string: .string
    case .bytes: .bytes
    case .int: .integer
    case .double: .double
    case .bool: .bool
    case .json: .json
    }
  }

  static func name(for value: KindFlag) -> NameSpecification { .customLong(value.rawValue) }
}
