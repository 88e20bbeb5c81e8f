/// Writes one dump, record by record.
public protocol DumpWriter {
  /// Adds a record, whose bytes are copied.
  mutating func append(_ record: DumpRecord) throws
  /// Writes the end, without which the dump is refused.
  mutating func finish() throws
}

/// Takes a dump's bytes, a piece at a time.
public typealias DumpSink = ([UInt8]) throws -> Void

/// Fills what it can of an array, without changing its count, and says how many bytes; 0 at the dump's end.
public typealias DumpFill = (inout [UInt8]) throws -> Int
