import ArgumentParser
import Glibc
import SharedTable
import ToolSupport

struct Watch: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print changes of a key, or of all keys with a prefix, as they are committed.",
    discussion: """
      A line for each change: its version, 'set' or 'removed', the key, and the value as it is when the line is made \
      (spelled as 'batch' reads it). Expiry by itself is no change. Changes that the table's log has lost are told: \
      'missed N'. Goes on until Ctrl-C, --count or --until; with --timeout no longer than that, and then exit 7. In a table that mirrors an etcd the key '#upstream' changes with each \
      of etcd's revisions, and with the mirror's state and age: its line says 'revision N' and the state.

      --exec runs a shell command for each change, one after the other, with $SHM_TABLE, $SHM_EVENT (set, removed, \
      missed), $SHM_KEY, $SHM_VERSION and, if the value has at most 65536 bytes and no zero byte, $SHM_VALUE; \
      'shmctl get "$SHM_KEY"' has any value. Its standard input is empty.

      EXAMPLES
        shmctl watch -t settings greeting
        shmctl watch -t jobs --prefix job. --exec './run "$SHM_KEY"'
        shmctl watch -t jobs --json --from 4711
      """)

  @OptionGroup var options: CommonOptions

  @Option(help: ArgumentHelp("Changes of all keys that begin with this; empty: of all.", valueName: "prefix"))
  var prefix: RawArgument?

  @Option(help: ArgumentHelp("Begin behind this version, as far as the table's log goes back.", valueName: "version"))
  var from: UInt64?

  @Option(help: ArgumentHelp("Run this shell command for each change.", valueName: "command"))
  var exec: RawArgument?

  @Option(help: ArgumentHelp("End once a value is this; at once if KEY's is already.", valueName: "value"))
  var until: RawArgument?

  @Option(help: ArgumentHelp("End after so many changes.", valueName: "number"))
  var count: UInt64?

  @Argument(help: "The key.")
  var key: RawArgument?

  func validate() throws {
    if (key == nil) == (prefix == nil) {
      throw ValidationError("Give a key or --prefix ('--prefix \"\"' for all keys)")
    }
    if count == 0 { throw ValidationError("--count must be at least 1") }
  }

  func run(on table: Table) throws {
    let limit = TimeLimit(options, table)
    // Before the look at the value: what comes after it is a change.
    let start = from ?? table.version
    var changes =
      if let key { BlockingChanges(table, after: start, forKey: key.bytes) } else {
        BlockingChanges(table, after: start, prefix: prefix?.bytes ?? [])
      }
    if let key, let until, try table.entry(forKey: key.bytes)?.text == until.bytes { return }
    var told: UInt64 = 0
    // Up to which every change is told, or told as missed: of the version of the last change that was told, more may be to come.
    var version = start
    while true {
      guard let change = try changes.next(timeout: try limit.left()) else { continue }
      let value = try change.key.flatMap { key in try table.entry(forKey: key) }
      let line = ChangeLine(change, value, isOfMirror: table.isMirror)
      try StandardOutput.write(options.json ? line.json : line.text)
      if let exec { try line.run(exec, table, options) }
      told += 1
      if told == count { return }
      if let until {
        if case .set = change, line.value?.text == until.bytes { return }
        // The change to the value may be among those that were lost, and no later one may come.
        if case .missed = change, try isReached(until, after: version, in: table) { return }
      }
      if let changed = change.version { version = changed - 1 }
    }
  }

  /// Whether a key has the value, by a change after a version.
  private func isReached(_ until: RawArgument, after version: UInt64, in table: Table) throws -> Bool {
    try table.read { view in
      if let key { return try view.entry(forKey: key.bytes)?.text == until.bytes }
      var isReached = false
      try view.forEach(prefix: prefix?.bytes ?? []) { _, entry in
        if !isReached, entry.version > version { isReached = TableEntry(entry).text == until.bytes }
      }
      return isReached
    }
  }
}
