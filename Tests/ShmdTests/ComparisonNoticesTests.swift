import Logging
import SharedTable
import Synchronization
import TestSupport
import Testing

@testable import ShmdCore
@testable import TableStore

/// What the journal says of comparisons.
@Suite struct ComparisonNoticesTests {
  /// Under constant overruns there are several comparisons a second.
  @Test func comparisonsOfAMinuteAreOneLineAndANumber() {
    let log = RecordedLog()
    let notices = ComparisonNotices(log.logger)
    let start = ContinuousClock.now
    for second in 0..<59 {
      notices.note("a", now: start + .seconds(second))
      notices.sayNumbers(now: start + .seconds(second))
    }
    #expect(log.lines == ["store compared with its table table=a"])
    notices.note("b", now: start + .seconds(50))
    notices.sayNumbers(now: start + .seconds(60))
    #expect(log.lines.count == 3)
    #expect(log.lines[1] == "store compared with its table table=b")
    #expect(
      log.lines[2].hasPrefix("store compared with its table again; ") && log.lines[2].hasSuffix("table=a times=58"))
    // After a minute of rest it is a first one again.
    notices.sayNumbers(now: start + .seconds(120))
    notices.note("a", now: start + .seconds(121))
    #expect(log.lines.count == 4 && log.lines[3] == "store compared with its table table=a")
  }

  @Test func storesSayTheirComparisonsOnce() async throws {
    let fixture = try DaemonFixture()
    let (name, log) = (fixture.tableName(), RecordedLog())
    let reports = Reports()
    let stores = Stores(log: log.logger) { table, mode, directory, report throws(StoreError) in
      reports.add(report)
      return try StoreKeeper(table, mode, in: directory, report: report)
    }
    let configuration = TableConfiguration(
      file: "f", name: name, options: Table.Options(capacityBytes: 1 << 20), durability: .everyBarrier, lines: [:])
    stores.use(fixture.directory)
    defer { _ = try? WorkerProcess.run("/bin/sh", ["-c", "rm \(fixture.directory)/\(name).*"], timeoutSeconds: 60) }
    stores.follow([(configuration, try Table.create(name, configuration.options))])
    for _ in 0..<5 { reports.tell(.compared) }
    #expect(log.lines.filter { $0.hasPrefix("store compared with its table") }.count == 1)
    await stores.stop()
  }
}

/// What keepers report to.
private final class Reports: Sendable {
  typealias Report = @Sendable (StoreKeeper.Event) -> Void
  private let reports = Mutex<[Report]>([])

  func add(_ report: @escaping Report) { reports.withLock { $0.append(report) } }

  func tell(_ event: StoreKeeper.Event) { for report in reports.withLock(\.self) { report(event) } }
}
