import Glibc
import SharedTable
import TableDump

/// A dump in a file or a pipe, read batch by batch; its problems are complaints.
struct DumpSource {
  private let input: InputFile
  private let start: off_t
  private let longestValue: Int
  /// Kept as long as it is read from.
  private var spool: Spool?

  init(_ input: InputFile, _ longestValue: Int) {
    self.input = input
    self.longestValue = longestValue
    start = input.position
  }

  /// This dump, or a copy of it that can be read twice.
  func rereadable() throws -> DumpSource {
    if input.isRegular { return self }
    let spool = try Spool()
    var output = OutputBuffer(spool.descriptor, "the temporary file")
    try input.copy(to: &output)
    try output.flush()
    spool.rewind()
    var copy = DumpSource(InputFile(descriptor: spool.descriptor, name: input.name), longestValue)
    copy.spool = spool
    return copy
  }

  /// - Parameter begin: gets the header before the first batch.
  @discardableResult
  func forEachBatch(
    begin: (DumpHeader) throws -> Void = { _ in }, _ body: (DumpBatch) throws -> Void
  ) throws -> DumpHeader {
    if start >= 0 { input.position = start }
    do {
      var reader = try DumpReader(longestValue: longestValue) { piece in try input.read(into: &piece) }
      try begin(reader.header)
      var batch = DumpBatch()
      while try reader.next(&batch) { try body(batch) }
      return reader.header
    } catch let problem as DumpProblem {
      throw Complaint(problem, in: input.name)
    }
  }

  /// Reads all of it, and shows it to `begin` and `body`.
  func check(
    quiet: Bool, begin: (DumpHeader) throws -> Void, _ body: (DumpBatch) throws -> Void
  ) throws -> (DumpHeader, records: UInt64) {
    var records: UInt64 = 0
    var progress = Progress("check", total: 0, quiet: quiet)
    defer { progress.end() }
    let header = try forEachBatch(begin: begin) { batch in
      try body(batch)
      records += UInt64(batch.count)
      progress.reached(records)
    }
    return (header, records)
  }
}

extension Complaint {
  init(_ problem: DumpProblem, in name: String) {
    let (status, advice): (ExitStatus, String) =
      switch problem.kind {
      case .notADump: (.usage, "")
      case .otherFormat: (.incompatible, "")
      case .truncated: (.damaged, "; get the whole dump")
      case .damaged: (.damaged, "; get another copy")
      case .tooLarge: (.tooLarge, "; load it into a table of more capacity")
      }
    self.init(status, "\(name), \(problem)\(advice)")
  }
}
