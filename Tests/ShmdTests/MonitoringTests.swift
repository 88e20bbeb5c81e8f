import Glibc
import SharedTable
import TestSupport
import Testing

@testable import ShmdCore

/// What the daemon shows of its tables, asked for over its socket.
@Suite struct MonitoringTests {
  /// A daemon with monitoring, and where it is.
  private struct Monitored {
    let daemon: LoggingProcess
    let socket: String

    init(_ fixture: DaemonFixture, tables: String, more: String = "", mode: String = "\"0660\"") throws {
      socket = fixture.directory + "/run/http.sock"
      try fixture.write(
        "interval: 20ms\nlog-level: debug\nmonitoring: {socket: \(socket), mode: \(mode)}\n\(more)tables:\n\(tables)\n")
      daemon = try fixture.startReady()
    }

    func get(_ path: String) throws -> HTTPClient.Answer { try HTTPClient.get(path, at: socket) }

    /// Asks again until an answer is what is waited for. The daemon samples each second by itself.
    @discardableResult
    func get(_ path: String, until isWanted: (HTTPClient.Answer) -> Bool) throws -> HTTPClient.Answer {
      for _ in 0..<1200 {
        let answer = try get(path)
        if isWanted(answer) { return answer }
        usleep(50_000)
      }
      throw Failure("\(path) does not become what it should: \(try get(path).body)")
    }

    func stop() throws {
      daemon.signal(SIGTERM)
      #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
      #expect(access(socket, F_OK) != 0)
    }
  }

  // MARK: - Configuration

  @Test func theKeyIsReadAndPrintedAgain() throws {
    let text = """
      monitoring: {socket: /run/shmd/http.sock, mode: "0600", listen: "[::1]:9464"}
      tables: []
      """
    let configuration = try ConfigurationReader.parse(text, file: "f")
    let monitoring = try #require(configuration.monitoring)
    #expect(monitoring.socket == "/run/shmd/http.sock" && monitoring.mode == 0o600)
    #expect(monitoring.listen?.host == "::1" && monitoring.listen?.port == 9464)
    let printed = ConfigurationText.text(of: configuration)
    #expect(printed.contains(#"monitoring: {socket: "/run/shmd/http.sock", mode: "0600", listen: "[::1]:9464"}"#))
    #expect(try ConfigurationReader.parse(printed, file: "f").monitoring == monitoring)
  }

  @Test(arguments: [
    ("{}", "listens nowhere"), ("{socket: http.sock}", "is not a socket's path"),
    ("{listen: 0.0.0.0:9464}", "is not this host alone"), ("{listen: 127.0.0.1}", "is not an address"),
    ("{socket: /s, mode: \"0999\"}", "is not a mode"), ("{socket: /s, users: [root]}", "unknown key 'users'"),
  ])
  func aWrongKeyIsRefused(_ value: String, _ complaint: String) throws {
    let refusal = #expect(throws: Refusal.self) {
      _ = try ConfigurationReader.parse("monitoring: \(value)\ntables: []\n", file: "f")
    }
    let problem = try #require(refusal?.problems.first).description
    #expect(problem.hasPrefix("f:1: ") && problem.contains(complaint), "\(problem)")
  }

  // MARK: - Pages

  @Test func metricsAreStrictlyWhatPrometheusReads() throws {
    let fixture = try DaemonFixture()
    let (a, b) = (fixture.tableName(), fixture.tableName())
    let monitored = try Monitored(
      fixture, tables: "  - {name: \(a), capacity: 2MiB}\n  - {name: \(b), variant: rwlock, capacity: 2MiB}")
    let table = try Table.open(a)
    for index in 0..<10 { try table.set("k\(index)", index) }
    try table.set("gone", 1, expires: .after(.milliseconds(1)))
    let answer = try monitored.get("/metrics") { answer in
      answer.body.contains("sharedtable_keys{table=\"\(a)\"} 10\n")
        && !answer.body.contains("shmd_expired_keys_removed_total 0\n")
    }
    #expect(answer.status == 200)
    #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    #expect(answer.headers["content-length"] == "\(answer.body.utf8.count)")
    let figures = try StrictParser(answer.body)
    #expect(figures.values("shmd_tables_kept") == [2])
    #expect(figures.values("shmd_tables_blocked") == [0])
    #expect(figures.values("shmd_expired_keys_removed_total") == [1])
    #expect(figures.values("shmd_healthy") == [1])
    #expect(figures.values("shmd_rounds_total").first ?? 0 >= 1)
    #expect(figures.values("shmd_reloads_total", ["result": "refused"]) == [0])
    #expect(figures.values("sharedtable_info", ["table": b, "variant": "rwlock"]) == [1])
    #expect(try Promtool.complaint(about: answer.body) == nil)
    try monitored.stop()
  }

  /// While the table thread hangs no new sample comes, and the last one is ever older.
  @Test func aTableThreadThatHangsIsUnhealthyInTheMetricsToo() throws {
    var sample = HostSample()
    let fresh = Monitor(Startup(), sample: sample)
    #expect(fresh.page("/health")?.status == 200)
    sample.takenNanoseconds = 0
    let old = Monitor(Startup(), sample: sample)
    #expect(old.page("/health")?.status == 503)
    for (monitor, healthy) in [(fresh, 1.0), (old, 0)] {
      // Also of a page that was made before.
      for _ in 0..<2 {
        let page = try #require(monitor.page("/metrics"))
        #expect(try StrictParser(String(decoding: page.body, as: UTF8.self)).values("shmd_healthy") == [healthy])
      }
    }
  }

  /// The status is that of the newest sample, and that no other comes is what its reader has to know.
  @Test(arguments: ["/", "/status.json"]) func aTableThreadThatHangsIsInTheStatus(_ path: String) throws {
    let sample = HostSample()
    let monitor = Monitor(Startup(), sample: sample)
    func says(_ text: String, after seconds: UInt64) throws -> Bool {
      let page = try #require(monitor.page(path, now: sample.takenNanoseconds + seconds * 1_000_000_000))
      return String(decoding: page.body, as: UTF8.self).contains(text)
    }
    let isInOrder = path == "/" ? "in order" : "\"health\":[]"
    #expect(try says(isInOrder, after: 1))
    // The page of before is not this one, nor is this one kept.
    for seconds in [60, 70] as [UInt64] {
      #expect(try says("the table thread has not answered for \(seconds) s", after: seconds))
      #expect(try !says(isInOrder, after: seconds))
    }
  }

  @Test func reloadsAndDeadParticipantsAreCounted() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let monitored = try Monitored(fixture, tables: "  - {name: \(name), capacity: 2MiB}")
    monitored.daemon.signal(SIGHUP)
    try monitored.daemon.waitForLine("configuration reloaded")
    try fixture.write("tables: {}\n")
    monitored.daemon.signal(SIGHUP)
    try monitored.daemon.waitForLine("configuration refused")
    let worker = try WorkerProcess("shmd-test-worker", [name], timeoutSeconds: 60)
    try worker.expectLine("inside")
    worker.kill(SIGKILL)
    _ = try worker.wait()
    let answer = try monitored.get("/metrics") { answer in
      answer.body.contains("shmd_recoveries_noticed_total 1\n")
        && answer.body.contains("shmd_dead_participants_total 1\n")
    }
    let figures = try StrictParser(answer.body)
    #expect(figures.values("shmd_reloads_total", ["result": "accepted"]) == [1])
    #expect(figures.values("shmd_reloads_total", ["result": "refused"]) == [1])
    try monitored.stop()
  }

  @Test func aDurableTablesStoreIsInTheFigures() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let directory = fixture.directory + "/stores"
    defer {
      unlink("\(directory)/\(name).1.sqlite")
      rmdir(directory)
    }
    let monitored = try Monitored(
      fixture, tables: "  - {name: \(name), capacity: 4MiB, durability: relaxed(60min)}",
      more: "store-directory: \(directory)\n")
    try monitored.get("/metrics") { $0.body.contains("shmd_store_failing{table=\"\(name)\"} 0\n") }
    // What is stored while the file is made is on the disk already: so it is done until something is left for the interval.
    let table = try Table.open(name)
    let answer = try monitored.get("/metrics") { answer in
      (try? table.set("k", "v")) != nil
        && (try? StrictParser(answer.body))?.values("shmd_store_behind_commits", ["table": name]).first ?? 0 >= 1
    }
    #expect(try StrictParser(answer.body).values("shmd_store_lag_seconds", ["table": name]).first ?? 0 > 0)
    try monitored.stop()
  }

  /// Looking takes a twentieth of the table thread at most, and whatever a look took, there is another within a minute.
  @Test func thePauseBetweenLooksIsBounded() {
    var sample = HostSample()
    for (took, pause) in [(0, 1), (1_000_000_000, 20), (30_000_000_000, 60)] as [(UInt64, UInt64)] {
      sample.tookNanoseconds = took
      #expect(MonitoringService.pause(after: sample) == pause * 1_000_000_000)
    }
    sample.tookNanoseconds = .max
    #expect(MonitoringService.pause(after: sample) == 60_000_000_000)
  }

  @Test func healthFollowsABlockedTable() throws {
    let fixture = try DaemonFixture()
    let (good, taken) = (fixture.tableName(), fixture.tableName())
    for object in [".ctl", ".data"] { try squat("shmtable.\(taken)\(object)") }
    let monitored = try Monitored(
      fixture, tables: "  - {name: \(good), capacity: 1MiB}\n  - {name: \(taken), capacity: 1MiB}")
    let sick = try monitored.get("/health")
    #expect(sick.status == 503 && sick.body.hasPrefix("table '\(taken)' cannot be had: "), "\(sick.body)")
    #expect(try monitored.get("/ready") { $0.status == 200 }.body == "ready\n")
    #expect(try StrictParser(monitored.get("/metrics").body).values("shmd_table_blocked", ["table": taken]) == [1])
    #expect(try monitored.get("/").body.contains("table &#39;\(taken)&#39; cannot be had: "))
    removeObjects(ofTable: taken)
    let healthy = try monitored.get("/health") { $0.status == 200 }
    #expect(healthy.body == "ok, 2 tables\n")
    try monitored.stop()
  }

  @Test func healthFollowsADamagedTable() throws {
    let fixture = try DaemonFixture()
    let (good, bad) = (fixture.tableName(), fixture.tableName())
    let monitored = try Monitored(
      fixture, tables: "  - {name: \(good), capacity: 1MiB}\n  - {name: \(bad), capacity: 1MiB}")
    try monitored.get("/health") { $0.status == 200 }
    // shm_ctl_header.damaged, behind identity, ready, fingerprint and PID namespace.
    let mark = open("/dev/shm/shmtable.\(bad).ctl", O_WRONLY | O_CLOEXEC)
    #expect(pwrite(mark, [1], 1, 72) == 1)
    close(mark)
    let sick = try monitored.get("/health") { $0.status != 200 }
    #expect(sick.status == 503 && sick.body.contains("table '\(bad)' is damaged"), "\(sick.body)")
    #expect(!sick.body.contains("'\(good)'"))
    try monitored.stop()
  }

  /// Another table has come under the name: the store is left as it is, and health says so until that one is dropped.
  @Test func healthFollowsAStoreThatFails() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let directory = fixture.directory + "/stores"
    defer {
      unlink("\(directory)/\(name).1.sqlite")
      rmdir(directory)
    }
    let tables = "  - {name: \(name), capacity: 4MiB, durability: every-barrier}"
    let more = "store-directory: \(directory)\n"
    let first = try Monitored(fixture, tables: tables, more: more)
    try first.get("/health") { $0.status == 200 }
    try first.stop()
    try Table.drop(name)
    _ = try Table.create(name, Table.Options(capacityBytes: 4 << 20))
    let second = try Monitored(fixture, tables: tables, more: more)
    let sick = try second.get("/health") { $0.body.contains("stored") }
    #expect(sick.status == 503 && sick.body.contains("'\(name)' is not stored: "), "\(sick.body)")
    try Table.drop(name)
    try second.get("/health") { $0.status == 200 }
    try second.stop()
  }

  @Test func strangersTextIsEscaped() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let monitored = try Monitored(fixture, tables: "  - {name: \(name), capacity: 2MiB}")
    let hostile = "<script>alert(1)</script>\"'&\u{202e}\u{1b}[31m"
    try Table.open(name).set(hostile, 1)
    // A command may have any name.
    let link = fixture.directory + "/<b>\"&x"
    try #require(symlink(WorkerProcess.productDirectory + "/shmd-test-worker", link) == 0)
    defer { unlink(link) }
    let worker = try WorkerProcess(link, [name], timeoutSeconds: 120)
    try worker.expectLine("inside")
    let page = try monitored.get("/") { $0.body.contains("alert(1)") && $0.body.contains("&lt;b&gt;") }
    #expect(page.headers["content-type"] == "text/html; charset=utf-8")
    #expect(page.body.contains(#"&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\u{202e}\x1b[31m"#))
    #expect(page.body.contains("&lt;b&gt;&quot;&amp;x (\(worker.pid)"))
    #expect(!page.body.contains("<script>alert") && !page.body.contains("<b>\"") && !page.body.contains("\u{202e}"))
    // Only the page's own script may run.
    let policy = try #require(page.headers["content-security-policy"])
    let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([0-9a-z]+)'/)?.1)
    #expect(policy.hasPrefix("default-src 'none'") && page.body.contains("<script nonce=\"\(nonce)\">"))
    let json = try monitored.get("/status.json")
    #expect(json.body.contains(#""key":"<script>alert(1)</script>\"'&"#))
    let metrics = try monitored.get("/metrics")
    #expect(try StrictParser(metrics.body).values("sharedtable_participants", ["command": "<b>\"&x"]) == [1])
    try worker.killAndWait()
    try monitored.stop()
  }

  @Test func theStatusIsJSONOfTheDocumentedMembers() throws {
    let fixture = try DaemonFixture()
    let name = fixture.tableName()
    let monitored = try Monitored(fixture, tables: "  - {name: \(name), capacity: 2MiB}")
    try Table.open(name).set("k", "v")
    let answer = try monitored.get("/status.json") { $0.body.contains("\"key\":\"k\"") }
    #expect(answer.headers["content-type"] == "application/json")
    for member in [
      "\"version\":1", "\"health\":[]", "\"table\":\"\(name)\"", "\"variant\":\"rcu\"", "\"keys\":1",
      "\"capacityBytes\":2097152",
      "\"durability\":\"none\"", "\"stalledReaders\":[]", "\"command\":\"shmd\"", "\"blocked\":[]",
    ] {
      #expect(answer.body.contains(member), "\(member) in \(answer.body)")
    }
    try monitored.stop()
  }

  // MARK: - Requests

  @Test func whatIsNotServedIsSaid() throws {
    let fixture = try DaemonFixture()
    let monitored = try Monitored(fixture, tables: "  []", mode: "\"0600\"")
    var status = stat()
    #expect(stat(monitored.socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try monitored.get("/nothing").status == 404)
    #expect(try monitored.get("/../etc/passwd").status == 404)
    #expect(try monitored.get("/metrics?x=y").status == 200)
    for method in ["POST", "DELETE", "OPTIONS", "CONNECT"] {
      let answer = try HTTPClient.get("/metrics", at: monitored.socket, method: method)
      #expect(answer.status == 405 && answer.headers["allow"] == "GET, HEAD", "\(method)")
    }
    let head = try HTTPClient.get("/metrics", at: monitored.socket, method: "HEAD")
    #expect(head.status == 200 && head.body.isEmpty && Int(head.headers["content-length"] ?? "") ?? 0 > 0)
    let garbage = try HTTPClient(monitored.socket)
    garbage.send("\u{16}\u{3}\u{1}\r\n\r\n")
    #expect(try garbage.answer().status == 400)
    try monitored.stop()
  }

  @Test func oversizedRequestsAreRefused() throws {
    let fixture = try DaemonFixture()
    let monitored = try Monitored(fixture, tables: "  []")
    let header = try HTTPClient(monitored.socket)
    header.send("GET /metrics HTTP/1.1\r\nX: " + String(repeating: "x", count: 100_000) + "\r\n\r\n")
    #expect(try header.answer().status == 431)
    let body = try HTTPClient(monitored.socket)
    body.send("GET /metrics HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n" + String(repeating: "x", count: 100_000))
    #expect(try body.answer().status == 431)
    let address = try HTTPClient(monitored.socket)
    address.send("GET /" + String(repeating: "x", count: 100_000))
    #expect(try address.answer().status == 431)
    #expect(try monitored.get("/ready").status == 200)
    try monitored.stop()
  }

  @Test func theAnswerToABadRequestIsNotLostToWhatFollowsIt() throws {
    let fixture = try DaemonFixture()
    let monitored = try Monitored(fixture, tables: "  []")
    let garbage = try HTTPClient(monitored.socket)
    #expect(garbage.send("garbage\r\n" + String(repeating: "x", count: 1_000_000)))
    let answer = try garbage.answer()
    #expect(answer.status == 400 && answer.body == "this is no HTTP request\n")
    try monitored.stop()
  }

  @Test func halfRequestsEndWithTheirSenderOrTheirTime() throws {
    let fixture = try DaemonFixture()
    let monitored = try Monitored(fixture, tables: "  []")
    let half = try HTTPClient(monitored.socket)
    half.send("GET /metrics HTT")
    half.endOutput()
    #expect(try half.answer().status == 400)
    // Whole, with nothing to follow: answered.
    let whole = try HTTPClient(monitored.socket)
    whole.send("GET /ready HTTP/1.0\r\n\r\n")
    whole.endOutput()
    #expect(try whole.answer().status == 200)
    // Silent, and open: ended by the server, which the read waits for.
    let silent = try HTTPClient(monitored.socket)
    silent.send("GET /metrics HTT")
    #expect(try silent.readToEnd().isEmpty)
    try monitored.stop()
  }

  @Test func connectionsBeyondTheLimitAreToldSo() throws {
    let fixture = try DaemonFixture()
    let monitored = try Monitored(fixture, tables: "  []")
    var idle: [HTTPClient] = []
    for _ in 0..<64 { idle.append(try HTTPClient(monitored.socket)) }
    let refused = try monitored.get("/ready")
    #expect(refused.status == 503 && refused.body.contains("64 connections"), "\(refused.body)")
    idle = []
    try monitored.get("/ready") { $0.status == 200 }
    try monitored.stop()
  }

  @Test func anotherServersSocketIsLeftAloneAndTheTablesAreKept() throws {
    let fixture = try DaemonFixture()
    let monitored = try Monitored(fixture, tables: "  []")
    let other = try DaemonFixture()
    let name = other.tableName()
    try other.write(
      "interval: 20ms\nmonitoring: {socket: \(monitored.socket)}\ntables:\n  - {name: \(name), capacity: 1MiB}\n")
    let second = try other.start()
    try second.waitForLine("another process listens there")
    #expect(try Table.open(name).count == 0)
    second.signal(SIGTERM)
    #expect(try second.wait() == .code(0), "\(second.transcript)")
    #expect(try monitored.get("/ready").status == 200)
    try monitored.stop()
  }
}
