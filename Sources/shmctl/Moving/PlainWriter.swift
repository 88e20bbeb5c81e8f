import TableDump

/// Lines for a table's records; nil for one that the form cannot hold.
protocol PlainWriter {
  var start: [UInt8] { get }
  func record(_ record: OwnedRecord) -> [UInt8]?
}
