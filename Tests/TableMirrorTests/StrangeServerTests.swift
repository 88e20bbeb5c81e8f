import Glibc
import SharedTable
import TableMirror
import TableTestSupport
import TestSupport
import Testing

/// Writes to a mirror by the library, where what listens at the socket is not as shmd is.
@Suite struct StrangeServerTests {
  /// Runs `body` with a mirror that says that its writes are taken at a path.
  private func withMirror(_ body: (MirrorFixture, _ path: String) async throws -> Void) async throws {
    try await MirrorFixture.with { fixture in
      let path = "/tmp/\(fixture.table.name).sock"
      try await fixture.mirroring({ $0.writeSocketPath = path }) {
        try await fixture.wait(for: .following)
        try await body(fixture, path)
      }
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let steps: [ScriptedSocket.Step]
    let code: TableError.Code
    /// Whoever only waits is waited for no longer than that.
    var timeout = Duration.seconds(60)
    var testDescription: String { "\(steps) \(code)" }
  }

  private static let ok = ScriptedSocket.Step.answer("+OK\r\n")

  /// Behind the last byte of a command that writes nobody knows; before, nothing can have happened.
  @Test(arguments: [
    Case(steps: [.close], code: .upstreamAway),
    Case(steps: [.answer("+OK")], code: .timedOut, timeout: .milliseconds(500)),
    Case(steps: [.answer("-NOPERM you may not\r\n")], code: .notPermitted),
    Case(steps: [.answer("-ERR max number of clients reached\r\n")], code: .upstreamAway),
    Case(steps: [.answer("-WHAT\r\n")], code: .upstreamAway),
    Case(steps: [.answer(":1\r\n")], code: .upstreamAway),
    Case(steps: [.answer("\r\n")], code: .upstreamAway),
    Case(steps: [.answer("+OK\n")], code: .upstreamAway),
    Case(steps: [.endless("+OK")], code: .upstreamAway),
    Case(steps: [.endless("-\u{0}")], code: .upstreamAway),
    Case(steps: [ok, .answer(":7\r\n")], code: .upstreamUnsure),
    Case(steps: [ok, .answer("$2\r\nOK\r\n")], code: .upstreamUnsure),
    Case(steps: [ok, .answer("*-2\r\n")], code: .upstreamUnsure),
    Case(steps: [ok, .answer(":99999999999999999999\r\n")], code: .upstreamUnsure),
    Case(steps: [ok, .endless("*9")], code: .upstreamUnsure),
    Case(steps: [ok, .answer("-MIRRORWHAT now\r\n")], code: .upstreamUnsure),
    Case(steps: [ok, .answer("-MIRRORLATE x\u{1b}[2J\r\n")], code: .upstreamLate),
    Case(steps: [ok], code: .upstreamUnsure, timeout: .seconds(5)),
  ]) func whatComesOfAStore(example: Case) async throws {
    try await withMirror { fixture, path in
      let socket = try ScriptedSocket(path, steps: example.steps)
      let failure = await error { try await fixture.table.upstream.set("k", "v", timeout: example.timeout) }
      #expect(failure?.code == example.code, "\(String(describing: failure))")
      #expect(failure?.message.contains("\u{1b}") == false)
      let played = try socket.end()
      // Of what has no end not much was taken: what the socket holds, and little more.
      #expect(played.sent < 1 << 20)
    }
  }

  @Test(arguments: [
    // The connection ends, or NOPERM comes, before EXEC is sent; then EXEC's answer is none of EXEC's.
    Case(steps: [ok, ok, .answer("+OK\r\n-NOPERM no\r\n")], code: .notPermitted),
    Case(steps: [ok, ok, .answer("+OK\r\n"), .close], code: .upstreamAway),
    Case(steps: [ok, ok, .close], code: .upstreamAway),
    Case(steps: [ok, ok, .answer("+OK\r\n+QUEUED\r\n"), .answer("*2\r\n+OK\r\n+OK\r\n")], code: .upstreamUnsure),
    Case(steps: [ok, ok, .answer("+OK\r\n+QUEUED\r\n"), .answer("*1\r\n-ERR no\r\n")], code: .upstreamUnsure),
    Case(steps: [ok, ok, .answer("+OK\r\n+QUEUED\r\n"), .answer("*1\r\n*1\r\n")], code: .upstreamUnsure),
    Case(steps: [ok, ok, .answer("+OK\r\n+QUEUED\r\n"), .answer("+OK\r\n")], code: .upstreamUnsure),
    Case(steps: [ok, ok, .answer("+OK\r\n+QUEUED\r\n"), .answer("-EXECABORT so\r\n")], code: .upstreamRefused),
  ]) func whatComesOfATransaction(example: Case) async throws {
    try await withMirror { fixture, path in
      let socket = try ScriptedSocket(path, steps: example.steps)
      let failure = await error {
        try await fixture.table.upstream.transaction(timeout: example.timeout) { tx in
          _ = try tx.get("looked-at")
          try tx.set("k", "v")
        }
      }
      #expect(failure?.code == example.code, "\(String(describing: failure))")
      _ = try socket.end()
    }
  }

  /// What is under way to a server that is gone raises no SIGPIPE, and was not written.
  @Test func whatWasNotSentToItsEndWasNotWritten() async throws {
    try await withMirror { fixture, path in
      let socket = try ScriptedSocket(path, steps: [Self.ok, .close])
      let table = fixture.table
      let writer = TestThread {
        // What is blocked waits for the thread, also where the process ignores it.
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, nil)
        let value = [UInt8](repeating: 1, count: table.maximumValueLength)
        let failure = code { try table.upstream.set("k", value) }
        var pending = sigset_t()
        sigpending(&pending)
        return (failure, hasSignal: sigismember(&pending, SIGPIPE) == 1)
      }
      _ = try socket.end()
      let (failure, hasSignal) = try writer.join()
      #expect(failure == .upstreamAway && !hasSignal)
    }
  }

  /// A stopped shmd: those who connect wait to be accepted, until no more may.
  @Test func nobodyWaitsForEverToBeAccepted() async throws {
    try await withMirror { fixture, path in
      let listener = try ScriptedSocket.listen(at: path, backlog: 0)
      let first = try RedisClient(path)
      let failure = await error { try await fixture.table.upstream.set("k", "v", timeout: .milliseconds(100)) }
      #expect(failure?.code == .timedOut && failure?.message.contains("nothing was written") == true)
      withExtendedLifetime(first) {}
      close(listener)
      unlink(path)
    }
  }

  /// The write before it has more time, and no answer.
  @Test func aWriteWhoseTimeIsOverBeforeItsTurnIsNotWritten() async throws {
    try await withMirror { fixture, path in
      let table = fixture.table
      let listener = try ScriptedSocket.listen(at: path)
      let ended = Counter()
      let first = Task {
        defer { ended.increment() }
        return await error { try await table.upstream.set("first", "1", timeout: .seconds(600)) }
      }
      var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
      #expect(await comesTrue { poll(&waiting, 1, 0) == 1 })
      let late = await error { try await table.upstream.set("late", "1", timeout: .milliseconds(50)) }
      #expect(late?.code == .timedOut && late?.message.contains("nothing was written") == true)
      let body = Counter()
      let never = await error {
        try await table.upstream.transaction(timeout: .zero) { tx in
          body.increment()
          try tx.set("never", "1")
        }
      }
      #expect(never?.code == .timedOut && body.value == 0)
      // Neither of them waited for the first.
      #expect(ended.value == 0)
      let connection = accept(listener, nil, nil)
      #expect(poll(&waiting, 1, 0) == 0)
      unlink(path)
      close(listener)
      close(connection)
      #expect(await first.value?.code == .upstreamAway)
      // The queue goes on without them.
      #expect(await error { try await table.upstream.set("next", "1") }?.code == .upstreamAway)
    }
  }

  /// Somebody who may write to the directory, or into the table, is nobody to write to.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to become other users"))
  func aStrangerAtTheSocketIsSentNothing() async throws {
    try await withMirror { fixture, path in
      let worker = try WorkerProcess("table-worker", timeoutSeconds: 240)
      try worker.ask("become 54321 groups", expecting: "ok")
      try worker.ask("listen \(path)", expecting: "ok")
      let failure = await error { try await fixture.table.upstream.set("k", "v") }
      #expect(failure?.code == .notPermitted && failure?.message.hasPrefix("user 54321 listens at \(path)") == true)
      try worker.ask("received", expecting: "0")
      unlink(path)
    }
  }

  /// There every user that the namespace does not map has one number, which the table's owner and this process may have, too.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to become other users"))
  func inAUserNamespaceAStrangerAtTheSocketIsSentNothing() async throws {
    try await withMirror { fixture, path in
      for object in ["ctl", "data"] {
        #expect(chown("/dev/shm/shmtable.\(fixture.table.name).\(object)", 65_533, 0) == 0)
      }
      let stranger = try WorkerProcess("table-worker", timeoutSeconds: 240)
      try stranger.ask("become 54321 groups", expecting: "ok")
      try stranger.ask("listen \(path)", expecting: "ok")
      #expect(chmod(path, 0o777) == 0)
      let writer = try WorkerProcess(
        "/usr/bin/setpriv",
        ["--reuid=65533", "--clear-groups", "unshare", "--user", "--map-user=65534"]
          + ["\(WorkerProcess.productDirectory)/table-worker"], timeoutSeconds: 240)
      try writer.ask("open \(fixture.table.name)", expecting: "ok")
      let answer = try writer.ask("message upstream-set k v")
      #expect(answer.hasPrefix("user unknown listens at \(path)"), "\(answer)")
      try stranger.ask("received", expecting: "0")
      unlink(path)
    }
  }

  @Test func thePathIsPartOfWhatTheTableSaysAndOlderTextHasNone() throws {
    var status = UpstreamStatus(.following, address: "etcd://a:1/p")
    let length = status.text.utf8.count
    #expect(UpstreamStatus(text: status.text)?.writeSocketPath == nil)
    status.writeSocketPath = "/run/shmd/redis.socket"
    #expect(UpstreamStatus(text: status.text) == status)
    // A full table takes it in the place of what it had.
    #expect(status.text.utf8.count == length)
    status.problem = String(repeating: "x", count: 1000)
    status.writeSocketPath = "/" + String(repeating: "s", count: 106)
    #expect(UpstreamStatus(text: status.text)?.writeSocketPath == status.writeSocketPath)
    for path in ["relative", "/a\nstate stopped", "/" + String(repeating: "s", count: 107), ""] {
      status.writeSocketPath = path
      #expect(UpstreamStatus(text: status.text)?.writeSocketPath == nil)
      #expect(UpstreamStatus(text: status.text)?.state == .following)
    }
  }
}
