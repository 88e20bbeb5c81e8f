import Observation
import SharedTable
import SharedTableObservation
import Synchronization
import Testing

// What the page of this name shows. scripts/tidy.sh looks that it does.

private let applied = Mutex<[Int]>([])
private func apply(_ limit: Int) { applied.withLock { $0.append(limit) } }

func follow(_ table: Table) async throws {
  let limit = try SharedValue("limit", in: table, default: 100)
  for try await limit in limit.updates { apply(limit) }
}

final class Throttle: Sendable {
  let limit: ObservableValue<Int>

  init(_ table: Table) throws {
    limit = try ObservableValue(SharedValue("limit", in: table, default: 100))
  }

  func run() async {
    for await limit in Observations({ self.limit.value }) { apply(limit) }
  }
}

@Test func bothFollowTheLimit() async throws {
  let table = try Table.temporary()
  let throttle = try Throttle(table)
  let tasks = [Task { try await follow(table) }, Task { await throttle.run() }]
  while applied.withLock({ $0 }) != [100, 100] { await Task.yield() }
  try await table.set("limit", 5)
  while applied.withLock({ $0 }) != [100, 100, 5, 5] { await Task.yield() }
  for task in tasks { task.cancel() }
}
