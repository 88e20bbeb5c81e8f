/// Reads a dump in whatever form it has, a batch of checked records at a time.
public struct DumpReader {
  private var form: any DumpReading

  /// Reads the header.
  /// - Parameters:
  ///   - source: the dump's bytes.
  ///   - longestValue: bytes; a record with a longer value is refused before room is made for it.
  /// - Throws: `DumpProblem`; what `source` throws.
  public init(longestValue: Int, source: @escaping DumpFill) throws {
    var input = DumpInput(source)
    let first = try input.peek()
    form =
      first == UInt8(ascii: "{")
      ? try JSONDumpReader(input, longestValue: longestValue)
      : try BinaryDumpReader(input, longestValue: longestValue)
  }

  public var header: DumpHeader { form.header }

  /// Fills the batch with the next records, about 256 KiB of them or one that is longer.
  /// - Returns: false at the dump's end, which was found to fit what came before.
  /// - Throws: `DumpProblem`; what the source throws.
  public mutating func next(_ batch: inout DumpBatch) throws -> Bool { try form.next(&batch) }
}
