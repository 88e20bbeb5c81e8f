import ArgumentParser
import SharedTable
import TableDump

/// The forms of other programs that `import` and `export` know.
enum PlainForm: String, ExpressibleByArgument, CaseIterable {
  case csv, env, resp
}

extension OwnedRecord {
  /// The value for other programs: numbers and bools as text, all else as it is stored.
  var text: [UInt8] {
    unsafe value.withUnsafeBytes { stored -> [UInt8] in
      switch isOpaque ? nil : type {
      case .integer: unsafe Int(tableBytes: stored).map { Array(String($0).utf8) } ?? value
      case .double: unsafe Double(tableBytes: stored).map { Array(String($0).utf8) } ?? value
      case .bool: unsafe Bool(tableBytes: stored).map { Array(String($0).utf8) } ?? value
      default: value
      }
    }
  }
}
