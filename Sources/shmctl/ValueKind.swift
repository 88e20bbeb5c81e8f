import ArgumentParser

/// The types that `set --type` takes.
enum ValueKind: String, ExpressibleByArgument, CaseIterable {
  case string, bytes, integer, double, bool, json
}

extension ValueKind {
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
