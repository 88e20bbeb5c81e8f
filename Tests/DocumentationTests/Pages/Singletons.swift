import Dispatch
import SharedTable

// What the page of this name shows. scripts/tidy.sh looks that it does.

// MARK: - With a lazy global

final class Printer: @unchecked Sendable {
  // Sendable because `pages` is read on the queue and changed in its barriers.
  static let shared = Printer()

  /// Chosen once.
  let serial: Int
  private let queue = DispatchQueue(label: "org.example.printer", attributes: .concurrent)
  private var pages = 0

  private init() { serial = .random(in: 1 ... .max) }

  var printed: Int { queue.sync { pages } }

  func print(_ count: Int) { queue.sync(flags: .barrier) { pages += count } }
}

// MARK: - With a table

struct HostPrinter: Sendable {
  /// Chosen once, by the first who asks, in whatever process.
  let serial: Int
  private let pages: SharedCounter

  init(in table: Table) throws {
    serial = try SharedOnce("printer-serial", in: table).value { .random(in: 1 ... .max) }
    pages = try SharedCounter("printed", in: table)
  }

  /// This process's way to the host's printer. After the first call, a lookup.
  static func shared() throws -> HostPrinter { try HostPrinter(in: Table.shared("printer")) }

  var printed: Int { get throws { try pages.value } }

  func print(_ count: Int) throws { try pages.increment(by: count) }
}

actor HostPrinterActor: HostActor {
  nonisolated let hostExecutor: HostExecutor
  private let pages: HostState<Int>

  init(in table: Table) throws {
    hostExecutor = HostExecutor(in: table)
    pages = try HostState("printed", in: hostExecutor, default: 0)
  }

  /// Prints as much as is left of the budget.
  func print(_ count: Int, budget: Int) throws -> Int {
    let granted = try max(0, min(count, budget - pages.value))
    try pages += granted
    return granted
  }
}

func print(_ count: Int, by printer: HostPrinterActor) async throws -> Int {
  try await printer.hostRun { printer in try printer.print(count, budget: 100) }
}
