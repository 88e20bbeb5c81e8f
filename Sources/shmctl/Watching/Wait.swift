import ArgumentParser
import SharedTable
import ToolSupport

struct Wait: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until a key exists, has a value, or is gone.",
    discussion: """
      Prints the value as 'get' does in a pipe, on a terminal with control characters escaped, or nothing with --gone. Waits \
      --timeout at most (5s unless given), then exit 7. It is about a state: a value that lasts shorter than a look may be \
      missed.

      EXAMPLES
        shmctl wait -t jobs ready --timeout 1m
        shmctl wait -t jobs state --value done --timeout 1h
        shmctl wait -t jobs lock --gone
      """)

  @OptionGroup var options: CommonOptions

  @Option(help: ArgumentHelp("Until the value is this.", valueName: "value"))
  var value: RawArgument?

  @Flag(help: "Until there is no such key, or it has expired.")
  var gone = false

  @Argument(help: "The key.")
  var key: RawArgument

  func validate() throws {
    if gone, value != nil { throw ValidationError("--gone and --value exclude each other") }
  }

  func run(on table: Table) throws {
    let deadline = ContinuousClock.now + options.timeout.duration
    while true {
      // Before the look: what is committed after it ends the wait below.
      let version = table.version
      let (entry, now) = try table.read { view in (try view.entry(forKey: key.bytes), view.now) }
      if isMet(entry) { return try tell(entry) }
      let left = deadline - ContinuousClock.now
      guard left > .zero else { throw late(table) }
      // An entry that ends is no commit.
      let ends = entry?.expiry.map { Duration.nanoseconds(Int64(clamping: $0 > now ? $0 - now : 0)) + .milliseconds(1) }
      _ = try table.waitForCommit(after: version, timeout: min(left, ends ?? left))
    }
  }

  private func isMet(_ entry: TableEntry?) -> Bool {
    if gone { return entry == nil }
    guard let value else { return entry != nil }
    return entry?.text == value.bytes
  }

  private func tell(_ entry: TableEntry?) throws {
    if options.json {
      var object = JSONObject()
      object.add("key", bytes: key.bytes)
      object.add("found", entry != nil)
      entry?.describe(in: &object)
      return try StandardOutput.write(object.line)
    }
    guard let entry else { return }
    guard StandardOutput.isTerminal else { return try StandardOutput.write(entry.text) }
    try StandardOutput.write(line: String.printable(entry.text))
  }

  private func late(_ table: Table) -> Complaint {
    let what = gone ? "is still there" : value != nil ? "has not become the value" : "is still not there"
    return Complaint(
      .timedOut, table: table.name,
      "key '\(key.shown)' \(what) after \(options.timeout); allow more --timeout, or look whether its writer lives")
  }
}
