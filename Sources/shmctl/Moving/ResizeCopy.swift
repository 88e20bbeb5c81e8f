/// The name of the table that holds the contents while `resize` makes the new table.
enum ResizeCopy {
  private static let infix = ".resize."

  static func name(of table: String, madeBy pid: Int32) -> String { "\(table)\(infix)\(pid)" }

  /// Which table's copy has this name, and which process made it; nil if it is no copy's.
  static func parts(of name: String) -> (table: String, pid: Int32)? {
    guard let range = name.ranges(of: infix).last, let pid = Int32(name[range.upperBound...]), pid > 0 else {
      return nil
    }
    let table = String(name[..<range.lowerBound])
    return Self.name(of: table, madeBy: pid) == name && !table.isEmpty ? (table, pid) : nil
  }
}
