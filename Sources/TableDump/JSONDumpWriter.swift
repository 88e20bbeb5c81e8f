internal import ToolSupport

/// Writes a dump as lines of JSON. Holds one piece of 256 KiB, or a record that is longer.
public struct JSONDumpWriter: DumpWriter {
  private let sink: DumpSink
  private var piece: [UInt8] = []
  private var records: UInt64 = 0

  /// Writes the header.
  public init(_ header: DumpHeader, to sink: @escaping DumpSink) throws {
    self.sink = sink
    var object = JSONObject()
    object.add("dump", JSONForm.name)
    object.add("format", JSONForm.version)
    object.add("table", header.table)
    object.add("variant", "\(header.variant)")
    object.add("capacityBytes", header.capacityBytes)
    object.add("version", header.version)
    object.add("takenNanoseconds", header.taken)
    object.add("keyCount", header.keyCount)
    object.add("prefix", bytes: header.prefix)
    piece += object.line
  }

  public mutating func append(_ record: DumpRecord) throws {
    var object = JSONObject()
    object.add("key", bytes: record.keyBytes)
    JSONForm.add(record, to: &object)
    object.add("version", record.version)
    piece += object.line
    records += 1
    if piece.count >= BinaryForm.blockBytes { try flush() }
  }

  public mutating func finish() throws {
    var object = JSONObject()
    object.add("end", true)
    object.add("records", records)
    piece += object.line
    try flush()
  }

  private mutating func flush() throws {
    try sink(piece)
    piece.removeAll(keepingCapacity: piece.count <= 4 << 20)
  }
}
