import ArgumentParser
import SharedTable
import TableMetrics
import ToolSupport

struct Clients: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clients", abstract: "Print which processes take part in a table, what they hold and wait for.",
    discussion: """
      A line a process, and below it one for each thread that holds a place in the table and is not idle. Stalled: \
      for 200 ms or longer the reader has kept old values from being reused. Stopped: by a signal (SIGSTOP) or a \
      debugger; what it holds stays held. Of those who wait for the barrier before theirs only the foremost is known. Observers store nothing in \
      the table, so there is only their number. With --json an object a process.
      """)

  @OptionGroup var options: CommonOptions

  func run(on table: Table) throws {
    guard !table.isObserver else {
      throw Complaint(
        .notPermitted, table: table.name, "observers cannot see who takes part; ask its owner, or run it as root")
    }
    let clients = Client.all(TableFigures(table))
    if options.json { return try StandardOutput.write(clients.flatMap { $0.json(table.name).line }) }
    try StandardOutput.write(Array(text(clients, table.statistics.observers).utf8))
  }

  private func text(_ clients: [Client], _ observers: Int?) -> String {
    var columns = Columns([("PID", .right), ("USER", .left), ("COMMAND", .left), ("THREADS", .right), ("WHAT", .left)])
    for client in clients {
      let (first, others) = client.summary
      columns.add(["\(client.pid)", client.user, client.command, "\(client.threads.count)", first])
      for other in others { columns.add(["", "", "", "", other]) }
    }
    let observing = observers.map { $0 > 0 ? "observers: \($0)\n" : "" } ?? ""
    return (columns.isEmpty ? "" : columns.text) + observing
  }
}
