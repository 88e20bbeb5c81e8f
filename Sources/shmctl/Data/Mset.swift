import ArgumentParser
import SharedTable
import ToolSupport

struct Mset: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mset", abstract: "Store several values, all or none.",
    discussion: """
      Keys and values in turn: 'mset a 1 b 2'. A '-' alone reads them from standard input, a line each with a tab between, as \
      'mget' prints them, or with -0 each ended by a zero byte. All are stored in one barrier, or none. 'batch' and 'import' \
      store in parts what is too much for one. Values are of the types that 'set' gives them.
      """)

  @OptionGroup var options: CommonOptions
  @OptionGroup var valueOptions: ValueOptions

  @Flag(name: .customShort("0"), help: "Keys and values on standard input end with a zero byte.")
  var null = false

  @Option(help: ArgumentHelp("Remove them by themselves after 500ms, 30s or 30, 5m, 1h or 2d.", valueName: "time"))
  var ttl: TimeSpan?

  @Flag(help: "Allow keys that belong to a collection; this damages the collection.")
  var force = false

  @Argument(help: ArgumentHelp("Keys and values in turn, or - for those on standard input.", valueName: "key value"))
  var words: [KeyWords]

  /// What a word takes of a table, or of this process's memory, besides its own bytes.
  private static let leastBytesBesides = 16

  private typealias Pair = (key: [UInt8], value: [UInt8])

  func validate() throws {
    if let ttl, ttl.milliseconds == 0 { throw ValidationError("--ttl must be more than nothing; 'del' removes a key") }
    if words.count > 1 { throw ValidationError("give keys and values, or - alone for those on standard input") }
  }

  func run(on table: Table) throws {
    guard let words = words[0].keys?.arrays else {
      return try store(readAll(for: table), in: table)
    }
    if let pairs = Self.pairs(words) { return try store(pairs, in: table) }
    throw Complaint.usage("key '\(String.printableStart(words.last ?? []))' has no value; give keys and values in turn")
  }

  private func readAll(for table: Table) throws -> [Pair] {
    // A key, a tab and a value, each of their bytes written with an escape.
    let longest = 2 * (Table.keyLengths.upperBound + table.maximumValueLength) + 1
    var reader = KeyReader(zeroTerminated: null, longest: longest, word: "line")
    var words: [[UInt8]] = []
    // Written with escapes, bytes are twice as long at most. Input without end must not take the host's memory first.
    var bytesLeft = 2 * table.capacityBytes
    while let batch = try reader.next() {
      words += batch.arrays
      bytesLeft -= batch.reduce(0) { $0 + $1.count + Self.leastBytesBesides }
      guard bytesLeft >= 0 else {
        throw Complaint(
          .full,
          "standard input has more than the table could hold; nothing was stored: make a table of more capacity, or store in "
            + "parts with 'batch' or 'import'")
      }
    }
    guard null else { return try words.enumerated().map { try pair($1, line: $0 + 1) } }
    if let pairs = Self.pairs(words) { return pairs }
    throw Complaint.usage(
      "key '\(String.printableStart(words.last ?? []))', the last on standard input, has no value; end both with a zero byte"
    )
  }

  /// Keys and values in turn; nil if the last key has no value.
  private static func pairs(_ words: [[UInt8]]) -> [Pair]? {
    guard words.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) }
  }

  private func pair(_ line: [UInt8], line number: Int) throws -> Pair {
    guard let pair = TabbedText.pair(line) else {
      throw Complaint.usage(
        "line \(number) of standard input is no key and value; write the key, a tab, the value, and \\t, \\n, \\r, \\\\ for such "
          + "bytes in them")
    }
    return pair
  }

  private func store(_ pairs: [Pair], in table: Table) throws {
    if pairs.isEmpty { return }
    let values = try pairs.map { try TypedValue($0.value, as: valueOptions.asked) }
    try KeyChange(table, force: force).run(pairs.map(\.key)) { tx in
      for (pair, value) in zip(pairs, values) {
        try tx.set(pair.key, value, expires: ttl.map { .after($0.duration) } ?? .never)
      }
    }
    guard options.json else { return }
    var object = JSONObject()
    object.add("stored", pairs.count)
    try StandardOutput.write(object.line)
  }
}
