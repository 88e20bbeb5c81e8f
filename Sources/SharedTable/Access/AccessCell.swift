/// A touched value, whatever its type.
@usableFromInline
protocol AccessCell: AnyObject {
  var key: [UInt8] { get }
  func writeBack(_ table: Table) throws(TableError)
}
