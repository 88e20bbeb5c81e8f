import ArgumentParser
import Glibc
import SharedTable
import TableDump

struct Dump: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump", abstract: "Write a table, or a part of it, to standard output or a file.",
    discussion: """
      One version of the table: keys, types, values, expiry. The binary form has checksums and is read by every later \
      release; --json writes lines of JSON instead. With -o the file appears when it is whole. 'shmctl load' reads both. \
      Writers go on meanwhile (--variant rcu). If they overtake the dump by more than the limbo budget, a table of \
      'stalled-reader: evict' ends it with exit 7: try again, or dump to a file; in one of 'wait' or 'refuse' the writers wait, or fail. Of a table that mirrors an etcd the key '#upstream', which says how far the mirror is, \
      is left out; 'copy', 'diff' and 'export' leave it out, too.

      EXAMPLES
        shmctl dump -t settings -o settings.dump
        shmctl dump -t settings | ssh host shmctl load -t settings
        shmctl dump --json --prefix user. | jq .key
      """)

  @OptionGroup var options: CommonOptions

  @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
  var output: RawArgument?

  @Option(help: ArgumentHelp("Only keys that begin with this.", valueName: "prefix"))
  var prefix: RawArgument?

  func run(on table: Table) throws {
    guard let output, !output.isStandardInput else {
      if !options.json, StandardOutput.isTerminal {
        throw Complaint.usage("a dump is not for a terminal; give -o FILE, a pipe, or --json")
      }
      return try write(table, 1, "the output", mayWait: RecordScan.mayWait(table))
    }
    let file = try OutputFile(output, mode: 0o600)
    try write(table, file.descriptor, "'\(output.shown)'", mayWait: file.isRegular || RecordScan.mayWait(table))
    try file.finish()
  }

  /// - Parameter mayWait: the section may last as long as the descriptor takes; else it is written to a spool first.
  private func write(_ table: Table, _ descriptor: Int32, _ what: String, mayWait: Bool) throws {
    if mayWait { return try scan(table, to: descriptor, what) }
    let spool = try Spool()
    try scan(table, to: spool.descriptor, "the temporary file")
    var output = OutputBuffer(descriptor, what)
    try spool.copy(to: &output)
    try output.flush()
  }

  private func scan(_ table: Table, to descriptor: Int32, _ what: String) throws {
    let prefix = prefix?.bytes ?? []
    var output = OutputBuffer(descriptor, what)
    var progress = Progress("dump", total: prefix.isEmpty ? UInt64(table.count) : 0, quiet: options.quiet)
    defer { progress.end() }
    try RecordScan.run(table) { view in
      let header = view.dumpHeader(of: table, prefix: prefix)
      let sink: DumpSink = { bytes in try output.append(bytes) }
      var writer: any DumpWriter =
        options.json ? try JSONDumpWriter(header, to: sink) : try BinaryDumpWriter(header, to: sink)
      var count: UInt64 = 0
      try view.forEachRecord(of: table, prefix: prefix) { record in
        try writer.append(record)
        count += 1
        if count & 1023 == 0 { progress.reached(count) }
      }
      try writer.finish()
    }
    try output.flush()
  }
}
