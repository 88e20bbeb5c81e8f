import Glibc
import SharedTable
import ToolSupport

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

  /// Options by which a table takes the place of this one: with its rights, and the seed of its hashes. A cache's ledger names elements by
  /// their hashes; and what fits into the copy fits into a table that distributes keys alike.
  static func options(for table: Table) throws(TableError) -> Table.Options {
    var options = try table.administration.options()
    if options.owner == geteuid() { options.owner = nil }
    options.hashSeed = table.segment.hashSeed
    return options
  }
}

extension Table.Options {
  /// Sets the limbo budget in proportion, as of a table that is made with this capacity.
  mutating func setCapacity(_ capacity: ByteCount) {
    capacityBytes = capacity.bytes
    limboBudgetBytes = Table.Options(capacityBytes: capacity.bytes).limboBudgetBytes
  }
}
