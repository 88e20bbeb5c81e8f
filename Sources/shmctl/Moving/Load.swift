import ArgumentParser
import Glibc
import SharedTable
import TableDump
import ToolSupport

struct Load: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load", abstract: "Put a dump's records into a table.",
    discussion: """
      Reads what 'shmctl dump' wrote, in either form, by any release. The whole dump is checked before the first record \
      is applied; a pipe is copied to $TMPDIR for that, unless --stream says to apply each record as it comes. Records that \
      have expired meanwhile are left out.

      --merge, the default: records are stored in groups, each all or nothing, and the table's other keys stay. If the load \
      ends early, it says how many records were applied; --skip goes on from there. With --resume the table itself holds how \
      far the load is, in a key 'shmctl.load.…' that the last step removes: the same command goes on wherever the former \
      one ended, also if it was killed.

      --replace: the table holds afterwards what the dump holds, changed in one barrier. What is too much for one barrier is \
      refused, and nothing is changed. If the dump is of a prefix, this applies to the keys that begin with it. The dump is read \
      into memory first, so that other writers do not wait for the disk; --merge reads it piece by piece.

      A collection that the table has is not mixed with the dump's: without --replace or --force the load is refused, and \
      nothing is changed (with --stream, nothing more). Remove it first, by 'shmctl del --force NAME'.

      EXAMPLES
        shmctl create settings && shmctl load -t settings settings.dump
        shmctl load --dry-run settings.dump
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Overwrite keys that are there, and leave the table's other keys: the default.")
  var merge = false

  @Flag(help: "Leave keys that are there as they are.")
  var ifAbsent = false

  @Flag(help: "Remove what the dump does not hold, all in one barrier.")
  var replace = false

  @Option(
    help: ArgumentHelp("Skip the dump's first records: those that an earlier load applied.", valueName: "number"))
  var skip: UInt64 = 0

  @Flag(help: "Go on where a former 'load --resume' of this dump ended.")
  var resume = false

  @Flag(help: "Apply records as they come, before the dump's end is seen.")
  var stream = false

  @Flag(help: "Check the dump and say what it is of; change nothing.")
  var dryRun = false

  @Flag(help: "Allow keys of a collection that the table has; this damages the collection.")
  var force = false

  @Argument(help: ArgumentHelp("The dump; standard input if none or -.", valueName: "file"))
  var file: RawArgument?

  func validate() throws {
    if (merge ? 1 : 0) + (ifAbsent ? 1 : 0) + (replace ? 1 : 0) > 1 {
      throw ValidationError("--merge, --if-absent and --replace exclude each other")
    }
    if replace, stream || resume || skip > 0 {
      throw ValidationError("--replace is one barrier: without --stream, --skip and --resume")
    }
    if resume, skip > 0 { throw ValidationError("--resume knows what is done; leave --skip out") }
  }

  func run() throws {
    // Before the input is read: a wrong name should not cost the wait.
    let table = dryRun ? nil : try options.open()
    let input = try InputFile(file)
    let longest = table?.maximumValueLength ?? Int(UInt32.max)
    if let table, stream { return try apply(DumpSource(input, longest), to: table, total: 0) }
    let source = try DumpSource(input, longest).rereadable()
    var mixed = mixedCollections(in: table)
    let (header, records) = try source.check(quiet: options.quiet) { header in
      if let table { try refuse(header, table) }
      if let table, resume { mixed?.stored = try LoadNote(of: header).done(in: table) }
    } _: { batch in
      try mixed?.refuse(batch)
    }
    if skip > records { throw tooManyToSkip(records) }
    guard let table else { return try describe(header, records) }
    if replace {
      let report = try RecordReplace(table, source).run(records)
      if let note = try? LoadNote(of: header) { try endFormer(note, in: table) }
      return try report.report(options, table)
    }
    try apply(source, to: table, total: records)
  }

  /// Nil if they are not to be looked at.
  private func mixedCollections(in table: Table?) -> MixedCollections? {
    guard let table, !force, !replace else { return nil }
    return MixedCollections(with: table, rule, advice: "or give --replace, or --force", stored: skip)
  }

  /// To replace a part of a collection would leave the rest of it without.
  private func refuse(_ header: DumpHeader, _ table: Table) throws {
    guard replace, !force,
      let collection = try table.read({ view in try view.collection(of: header.prefix) }), !collection.isHeader
    else { return }
    throw KeyChange.refusal(of: header.prefix, collection, table)
  }

  private var rule: RecordLoad.Rule { ifAbsent ? .keep : .overwrite }

  private func apply(_ source: DumpSource, to table: Table, total: UInt64) throws {
    var load = RecordLoad(table, rule)
    var mixed = stream ? mixedCollections(in: table) : nil
    var progress = Progress("load", total: total, quiet: options.quiet)
    defer { progress.end() }
    var skip = skip
    var note: LoadNote?
    do {
      try source.forEachBatch(begin: { header in
        note = try? LoadNote(of: header)
        if resume { skip = try load.resume(LoadNote(of: header)) }
        mixed?.stored = skip
        if resume, skip > 0 { options.note(table, "goes on behind the \(skip) records that are done") }
      }) { batch in
        try mixed?.refuse(batch)
        let left = min(UInt64(batch.count), skip > load.done ? skip - load.done : 0)
        load.skip(Int(left))
        try load.apply(batch, from: Int(left))
        progress.reached(load.done)
      }
    } catch {
      progress.end()
      guard load.done > 0 else { throw error }
      let option = resume ? "--resume" : "--skip \(load.done)"
      throw Complaint(
        error, table.name, "\(load.done) records of the dump are done: 'shmctl load \(option)' goes on behind them")
    }
    try load.finish()
    progress.end()
    if skip > load.done { throw tooManyToSkip(load.done) }
    if !resume, let note { try endFormer(note, in: table) }
    try LoadReport(load).report(options, table)
  }

  /// Of a load that was broken off: a later --resume would leave out what this one has done, and what has changed since.
  private func endFormer(_ note: LoadNote, in table: Table) throws {
    if try table.contains(note.key) { try note.remove(from: table) }
  }

  private func tooManyToSkip(_ records: UInt64) -> Complaint {
    Complaint.usage("--skip \(skip) is more than the \(records) records of the dump; nothing was changed")
  }

  private func describe(_ header: DumpHeader, _ records: UInt64) throws {
    if options.json {
      var object = JSONObject()
      object.add("table", header.table)
      object.add("variant", "\(header.variant)")
      object.add("capacityBytes", header.capacityBytes)
      object.add("version", header.version)
      object.add("takenMilliseconds", header.taken / 1_000_000)
      object.add("prefix", bytes: header.prefix)
      object.add("records", records)
      return try StandardOutput.write(object.line)
    }
    let part =
      header.prefix.isEmpty ? "" : ", of keys that begin with '\(String(decoding: header.prefix, as: UTF8.self))'"
    try StandardOutput.write(
      line: StandardError.printable(
        "a whole dump of table '\(header.table)', version \(header.version): \(records) records\(part)"))
  }
}

extension Complaint {
  /// What went wrong after records were applied, and what that means for the table.
  init(_ error: any Error, _ table: String, _ end: String) {
    switch error {
    case let error as TableError:
      self.init(ExitStatus(error.code), "\(error); \(end)")
    case let complaint as Complaint:
      self.init(complaint.status, "\(complaint.message); \(end)")
    default:
      self.init(.failure, table: table, "\(error); \(end)")
    }
  }
}
