import ArgumentParser
import SharedTable
import ToolSupport

struct Get: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print the values of keys.",
    discussion: """
      In a pipe or file: one key is exactly the value's bytes, several are a line each; integers, doubles and bools are \
      text. On a terminal a value is shown with its type and its control characters escaped; --raw prints it as it is. \
      A key that is not found is an empty line among several, and the exit status 1. The keys of the command line are of \
      one snapshot. A key '-' stands for keys on standard input, a line each, or with -0 a zero byte behind each. With \
      --json each is an object with its type, version and expiry.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "End each value, and each key on standard input, with a zero byte.")
  var null = false

  @Option(help: ArgumentHelp("Print this for a key that is not found, and do not fail.", valueName: "value"))
  var `default`: RawArgument?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to a file, which is replaced all at once and only if every key is found.", valueName: "file"))
  var output: RawArgument?

  @Flag(help: "Print values as they are, on a terminal too.")
  var raw = false

  @Argument(help: ArgumentHelp("Keys, or - for those on standard input.", valueName: "key"))
  var keys: [KeyWords]

  func run(on table: Table) throws {
    var misses = Misses()
    guard let output, !output.isStandardInput else {
      var buffer = OutputBuffer()
      try write(table, to: &buffer, ValueForm(options, null: null, raw: raw), &misses)
      try buffer.flush()
      return try misses.end()
    }
    let form = ValueForm(options, null: null, raw: true)
    let file = try OutputFile(output)
    var buffer = OutputBuffer(file.descriptor, "'\(output.shown)'")
    try write(table, to: &buffer, form, &misses)
    try buffer.flush()
    // A file stays what it was if a key was missing.
    try misses.end()
    try file.finish()
  }

  private func write(
    _ table: Table, to buffer: inout OutputBuffer, _ form: ValueForm, _ misses: inout Misses
  ) throws {
    let areSeveral = keys.areSeveral
    try keys.forEachBatch(zeroTerminated: null) { keys in
      // Gathered before anything is printed: a section must not wait for whoever reads the other end of a pipe.
      var text: [UInt8] = []
      var missing: [[UInt8]] = []
      try table.read { view in
        for key in keys {
          let isThere = try unsafe key.withKeyBytes { bytes in
            try unsafe view.show(bytes) { entry in form.append(entry, key, among: areSeveral, to: &text) }
          }
          if isThere { continue }
          // Says so of a key that cannot be.
          _ = try view.contains(key)
          if let value = `default` {
            text += form.text(ofDefault: value.bytes, [UInt8](key), among: areSeveral)
          } else {
            missing.append([UInt8](key))
            text += form.text(ofMissing: [UInt8](key), among: areSeveral)
          }
        }
      }
      for key in missing { misses.add(key, options, table) }
      try buffer.append(text)
      // Who sends keys one by one waits for each one's value.
      if areSeveral { try buffer.flush() }
    }
  }
}
