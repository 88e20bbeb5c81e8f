import Dispatch
import Logging
import SharedTable
import Synchronization
import TableMirror
import TestSupport
import Testing

@testable import ShmdCore

@Suite struct MirrorsTests {
  /// A store with which no mirror can go on. It remembers what the table said of itself when each session began.
  private final class StoppingSource: MirrorSource {
    let table: Table
    let states = Mutex<[UpstreamStatus.State?]>([])

    init(_ table: Table) { self.table = table }

    func withSession(_ attempt: Int, _ body: @Sendable (any MirrorSession) async throws -> Void) async throws {
      let state = try table.upstream.status()?.state
      states.withLock { $0.append(state) }
      throw MirrorFailure.stopped("nothing is here")
    }
  }

  /// The first has stopped and waits for the table, to say so in it.
  /// - Parameter isLeftOut: the table is not to be mirrored meanwhile.
  @Test(arguments: [false, true]) func aStoppedMirrorIsTriedAgainOnceItHasEnded(isLeftOut: Bool) async throws {
    try await withTableName { (name: String) async throws -> Void in
      var options = Table.Options(capacityBytes: 2 << 20)
      options.features = [.mirror]
      // However long the holder holds it: who waits must not give up.
      let table = try Table.create(name, options, timeout: .seconds(600))
      let address = MirrorAddress(endpoints: [.init(host: "db", port: 1)], prefix: [])
      var configuration = TableConfiguration(file: "f", name: name, options: options, lines: [:])
      configuration.upstream = UpstreamConfiguration(settings: MirrorSettings(address: address))
      let source = StoppingSource(table)
      let mirrors = Mirrors(log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) { _, _ in source }

      let held = Atomic(false)
      let over = DispatchSemaphore(value: 0)
      let holder = TestThread {
        try table.mirrorBarrier { _ in
          held.store(true, ordering: .releasing)
          over.wait()
        }
      }
      while !held.load(ordering: .acquiring) { await Task.yield() }
      mirrors.follow([(configuration, table)])
      let hasStopped = await comesTrue { mirrors.reports.first?.report.state == .stopped }
      #expect(hasStopped)
      if isLeftOut { mirrors.follow([]) }
      mirrors.follow([(configuration, table)], retryStopped: true)
      // Time enough for a second that does not wait; nobody is told that one waits.
      await doesNotComeTrue { source.states.withLock { $0.count } >= 2 }
      over.signal()
      try holder.join()
      let hasBegunAgain = await comesTrue { source.states.withLock { $0.count } == 2 }
      #expect(hasBegunAgain)
      #expect(source.states.withLock { $0 } == [nil, .stopped])
      await mirrors.stop()
    }
  }

  /// Programs that would write find in the table where that is done, if it is.
  @Test(arguments: [true, false]) func theTableSaysWhereItsWritesAreTaken(isServed: Bool) async throws {
    try await withTableName { (name: String) async throws -> Void in
      var options = Table.Options(capacityBytes: 2 << 20)
      options.features = [.mirror]
      let table = try Table.create(name, options)
      let address = MirrorAddress(endpoints: [.init(host: "db", port: 1)], prefix: [])
      var tableConfiguration = TableConfiguration(file: "f", name: name, options: options, lines: [:])
      tableConfiguration.upstream = UpstreamConfiguration(settings: MirrorSettings(address: address))
      var resp = RESPConfiguration()
      resp.listening.socket = "/run/shmd/redis.socket"
      if !isServed { resp.tables = ["another"] }
      let configuration = Configuration(file: "f", tables: [tableConfiguration], resp: resp)
      let passed = PassedSockets(process: nil, count: nil, names: nil, wanted: [])
      let source = StoppingSource(table)
      let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      let mirrors = Mirrors(log: log, writeSocket: WriteSocket(configuration, passed)) { _, _ in source }
      mirrors.follow([(tableConfiguration, table)])
      // Not by the report: the mirror says there first that it has stopped, and then in the table.
      #expect(try await comesTrue { try table.upstream.status()?.state == .stopped })
      #expect(try table.upstream.status()?.writeSocketPath == (isServed ? "/run/shmd/redis.socket" : nil))
      await mirrors.stop()
    }
  }

  @Test func withoutASocketNobodyTakesWrites() {
    let passed = PassedSockets(process: nil, count: nil, names: nil, wanted: [])
    var configuration = Configuration(file: "f")
    #expect(WriteSocket(configuration, passed)?.path(forTable: "a") == nil)
    var resp = RESPConfiguration()
    resp.listening.listen = .init(host: "127.0.0.1", port: 6379)
    configuration.resp = resp
    #expect(WriteSocket(configuration, passed)?.path(forTable: "a") == nil)
    // The manager's, of which none was passed.
    resp.listening.socket = Listening.passed
    configuration.resp = resp
    #expect(WriteSocket(configuration, passed)?.path(forTable: "a") == nil)
  }
}
