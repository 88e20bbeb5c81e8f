#if Etcd
  import Glibc
  import SharedTable
  import Synchronization
  import TestSupport
  import Testing

  /// Writes by the library to tables that two daemons, as of two hosts, mirror from one etcd.
  @Suite(.serialized, .enabled(if: EtcdServer.isInstalled, "needs etcd-server and etcd-client: make etcd-test"))
  struct LibraryWriteTests {
    /// What became of the attempts of one writer. Each appends a word of its own to a value, and adds to a number.
    private struct Record: Sendable {
      var written: [String] = []
      var unwritten: [String] = []
      var unsure: [String] = []
      var sums: [Int64] = []
      var unsureSums = 0
    }

    /// Appends, on what is there, and counts, until so many of both are acknowledged.
    private static func write(_ table: Table, _ name: String, _ progress: Progress?) throws -> Record {
      var record = Record()
      var attempt = 0
      while record.written.count < 40 || record.sums.count < 40 {
        attempt += 1
        let word = "\(name)\(attempt)."
        do throws(TableError) {
          try append(word, to: table)
          record.written.append(word)
          // One's own write is read at once.
          #expect(try table.get("words", as: String.self)?.contains(word) == true)
        } catch {
          switch error.code {
          case .upstreamLate: record.written.append(word)
          case .upstreamUnsure: record.unsure.append(word)
          case .upstreamAway, .timedOut: record.unwritten.append(word)
          default: throw error
          }
        }
        do throws(TableError) {
          record.sums.append(try table.upstream.increment("n"))
        } catch {
          switch error.code {
          // Written, as a sum that is not known.
          case .upstreamUnsure, .upstreamLate: record.unsureSums += 1
          case .upstreamAway, .timedOut: usleep(1000)
          default: throw error
          }
        }
        progress?.acknowledged.store(record.written.count, ordering: .relaxed)
      }
      return record
    }

    private static func append(_ word: String, to table: Table) throws(TableError) {
      do {
        try table.upstream.transaction { tx in try tx.set("words", try (tx.get("words") ?? "") + word) }
      } catch {
        throw error as! TableError
      }
    }

    @Test func nothingAcknowledgedIsLostWhateverDies() async throws {
      let server = try EtcdServer()
      try await withTableName { (first: String) async throws -> Void in
        try await withTableName { (second: String) async throws -> Void in
          var daemons = [try EtcdDaemon(server, first, host: "1"), try EtcdDaemon(server, second, host: "2")]
          var tables: [Table] = []
          for (name, daemon) in zip([first, second], daemons) {
            let table = try await EtcdDaemon.open(name)
            try await EtcdFixture(table: table, server: server).wait { $0.state == .following }
            #expect(try table.upstream.status()?.writeSocketPath == daemon.socket)
            tables.append(table)
          }
          let progress = Progress()
          let writers = zip(["a", "b", "c", "d"], tables + tables).enumerated().map { index, writer in
            TestThread { try Self.write(writer.1, writer.0, index == 0 ? progress : nil) }
          }
          // In the middle of it the first host's daemon is killed, again and again.
          for least in [3, 8, 13, 18] {
            #expect(await comesTrue { progress.acknowledged.load(ordering: .relaxed) >= least })
            try daemons[0].kill()
            daemons[0] = try EtcdDaemon(server, first, host: "1")
          }
          let records = try writers.map { try $0.join() }
          try expectAll(records, server)
          for daemon in daemons { try daemon.kill() }
        }
      }
    }

    /// How many of its words the first writer knows to be written.
    private final class Progress: Sendable {
      let acknowledged = Atomic(0)
    }

    /// Each acknowledged write is there once, each that was said not to be written is not, and no other at all.
    private func expectAll(_ records: [Record], _ server: EtcdServer) throws {
      let words = try server.control("get", "--print-value-only", "app/words").dropLast().split(separator: ".")
        .map { "\($0)." }
      let counts = Dictionary(words.map { ($0, 1) }, uniquingKeysWith: +)
      for record in records {
        for word in record.written { #expect(counts[word] == 1, "\(word) was acknowledged") }
        for word in record.unwritten { #expect(counts[word] == nil, "\(word) was said not to be written") }
        for word in record.unsure { #expect(counts[word] ?? 0 <= 1, "\(word) was sent once") }
      }
      let known = Set(records.flatMap { $0.written + $0.unsure })
      #expect(known.isSuperset(of: words))
      let sums = records.flatMap(\.sums)
      #expect(Set(sums).count == sums.count, "no two have added to the same")
      let total = Int(try server.control("get", "--print-value-only", "app/n").dropLast()) ?? -1
      let unsure = records.reduce(0) { $0 + $1.unsureSums }
      #expect(total >= sums.count && total <= sums.count + unsure)
      #expect(records.contains { !$0.unwritten.isEmpty || !$0.unsure.isEmpty }, "no daemon was missed")
    }
  }
#endif
