import ArgumentParser
import SharedTable
import TableDump
import ToolSupport

struct TransactionCommand: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transaction", abstract: "Run operations from standard input in one barrier: all of them or none.",
    discussion: """
      \(Batch.operations)

      All lines are read before the barrier begins. If a key of del, expire, persist or rename is not there, or a \
      condition is not met, nothing is changed: exit 1, and the line is named. So it is if a key belongs to a collection, without \
      --force: exit 10. Readers see the state before or after.

      EXAMPLES
        printf 'check balance:a value=100\\nincr balance:a -10\\nincr balance:b 10\\n' | shmctl transaction -t bank
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Print a line for each operation: done, or a sum.")
  var results = false

  @OptionGroup var input: OperationOptions

  func run(on table: Table) throws {
    try OperationRun(table, options, results: results, atomic: true, force: input.force)
      .run(InputFile(input.file))
  }
}
