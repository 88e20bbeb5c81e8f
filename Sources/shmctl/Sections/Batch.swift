import ArgumentParser
import SharedTable
import TableDump
import ToolSupport

struct Batch: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "batch", abstract: "Run operations from standard input, one a line, at full speed.",
    discussion: """
      \(operations)

      Operations are committed by groups: what has come, up to 1000 at a time. At a line that is wrong or fails it ends \
      and names the line: everything before it is done, nothing behind it. A key that is not there, or a condition that \
      is not met, ends nothing and is counted; exit 1 says that there were any. --atomic is 'transaction'. A line that would \
      change a key of a collection fails, without --force.

      EXAMPLES
        printf 'set a 1\\nincr hits 5\\n' | shmctl batch -t settings
        seq 1000000 | sed 's/.*/set key-& &/' | shmctl batch -t settings
        echo '{"op":"set","key":"a","value":1,"ttlMilliseconds":5000}' | shmctl batch --json -t settings
      """)

  static let operations = """
    OPERATIONS
      set KEY VALUE [ttl=TIME] [type=TYPE] [if=absent|present|VERSION]
      del KEY              incr KEY [AMOUNT]     append KEY VALUE
      expire KEY TIME      persist KEY           rename KEY NEW
      check KEY absent|present|version=N|value=TEXT

    Words stand between spaces. \\n \\r \\t \\s (a space) \\\\ \\" and \\xNN are escapes, "" is the empty value, and between \
    double quotes spaces are kept. # begins a comment. With --json a line is an object: {"op":…,"key":…,"value":…} with \
    keyBase64 and valueBase64 for bytes that are no UTF-8, ttlMilliseconds, amount, to, if, ifVersion, ifValue.
    """

  @OptionGroup var options: CommonOptions

  @Flag(help: "All operations in one barrier: all of them or none.")
  var atomic = false

  @Flag(help: "Print a line for each operation: done, unmet, or a sum.")
  var results = false

  @OptionGroup var input: OperationOptions

  func run(on table: Table) throws {
    try OperationRun(table, options, results: results, atomic: atomic, force: input.force)
      .run(InputFile(input.file))
  }
}
