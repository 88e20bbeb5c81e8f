/// A form's reader.
protocol DumpReading {
  var header: DumpHeader { get }
  /// Fills the batch with the next records.
  /// - Returns: false at the dump's end, which was found to fit what came before.
  mutating func next(_ batch: inout DumpBatch) throws -> Bool
}
