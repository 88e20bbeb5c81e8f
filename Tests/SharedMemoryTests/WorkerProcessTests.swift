import Glibc
import SharedMemory
import TestSupport
import Testing

/// The helper itself: a helper that loses a failure would lose it for every test.
@Suite struct WorkerProcessTests {
  @Test func aHangBecomesAFailureAndTheProcessIsGone() throws {
    let process = try WorkerProcess("/bin/sleep", ["1000"], timeoutSeconds: 1)
    #expect(throws: WorkerProcess.Failure.self) { try process.readLine() }
    #expect(throws: WorkerProcess.Failure.self) { try process.wait() }
    #expect(!ProcessIdentity.isAlive(pid: process.pid))
  }

  @Test func aForgottenProcessIsKilledAndReaped() throws {
    func pidOfForgotten() throws -> Int32 { try WorkerProcess("/bin/sleep", ["1000"]).pid }
    #expect(try !ProcessIdentity.isAlive(pid: pidOfForgotten()))
  }

  @Test func theEndIsReportedAsItWas() throws {
    let exited = try WorkerProcess.run("/bin/sh", ["-c", "cat; echo oops >&2; exit 7"], input: "hello")
    #expect(exited.exit == .code(7))
    #expect(exited.output == "hello\n")
    #expect(exited.errors == "oops\n")
    #expect(try WorkerProcess.run("/bin/sh", ["-c", "kill -SEGV $$"]).exit == .signal(SIGSEGV))
  }

  @Test func aLineToADeadProcessIsAFailureAndNotASignal() throws {
    let process = try WorkerProcess("/bin/true")
    try process.wait()
    #expect(throws: WorkerProcess.Failure.self) { for _ in 0..<3 { try process.send("anyone there?") } }
    process.kill(SIGKILL)  // and is not sent to whoever has the number now
  }

  /// As where the test's process was started with SIGCHLD ignored: its children leave nothing to wait for.
  @Test func aProcessThatSomebodyElseReapedIsAFailureAndNoHang() async {
    await #expect(processExitsWith: .success) {
      alarm(60)  // a hang is a failure
      signal(SIGCHLD, SIG_IGN)
      let process = try WorkerProcess("/bin/true", timeoutSeconds: 30)
      let failure = #expect(throws: WorkerProcess.Failure.self) { try process.wait() }
      #expect(failure?.description.contains("somebody else reaped it") == true)
    }
  }

  @Test func atTheLimitOfDescriptorsNoneStaysOpen() async {
    await #expect(processExitsWith: .success) {
      // Sockets and nameless files: what others of this process's threads open is neither.
      func openCount() -> Int {
        (0..<Int32(256)).count { descriptor in
          var status = stat()
          guard fstat(descriptor, &status) == 0 else { return false }
          return status.st_mode & S_IFMT == S_IFSOCK || status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 0
        }
      }
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      // Room for one pair, for both, for both and a file.
      for (room, program) in [(3, "/bin/true"), (4, "/bin/true"), (5, "no-such-program")] {
        var isAsBefore = false
        // If another thread opens or closes a descriptor meanwhile, there is other room than meant, or another number is open:
        // then once more. What a worker leaves open it leaves each time.
        for _ in 0..<20 where !isAsBefore {
          let before = openCount()
          let free = (0..<Int32(256)).filter { fcntl($0, F_GETFD) < 0 }
          var tight = rlimit(rlim_cur: rlim_t(free[room]), rlim_max: limit.rlim_max)
          setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &tight)
          do { _ = try WorkerProcess(program) } catch is WorkerProcess.Failure { isAsBefore = openCount() == before }
          setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        #expect(isAsBefore, "with room for \(room)")
      }
    }
  }

  @Test func aTemporaryDirectoryGoesWithAllThatIsInIt() throws {
    let path = try withTemporaryDirectory { path in
      #expect(mkdir("\(path)/a", 0o700) == 0 && mkdir("\(path)/a/b", 0o700) == 0)
      #expect(symlink("/tmp", "\(path)/a/b/link") == 0)
      return path
    }
    #expect(access(path, F_OK) != 0)
    for rest in ["/a/b/link", "/a/b", "/a", ""] { remove(path + rest) }
  }

  @Test func whateverLiesUnderATestsNameIsRemoved() throws {
    let name = withTableName { name in
      #expect(mkdir("/dev/shm/shmtable.\(name).data", 0o700) == 0)
      #expect(symlink("/nowhere", "/dev/shm/shmtable.\(name).ctl") == 0)
      return name
    }
    for object in ["shmtable.\(name).data", "shmtable.\(name).ctl"] {
      #expect(try SharedObject.look(at: object) == nil)
      remove("/dev/shm/\(object)")
    }
  }

  @Test func aProgramThatDoesNotExistIsAFailure() {
    #expect(throws: WorkerProcess.Failure.self) { try WorkerProcess("no-such-program") }
  }
}
