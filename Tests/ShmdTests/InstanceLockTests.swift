import Glibc
import TestSupport
import Testing

/// Who may have the file whose lock keeps a second daemon away.
@Suite struct InstanceLockTests {
  /// Whoever can open the file can lock it, and no daemon could start as long as he does.
  @Test(arguments: [false, true]) func theLockFileIsTheDaemonsAlone(isThere: Bool) throws {
    let fixture = try DaemonFixture()
    try fixture.configure("  []")
    let (run, file) = (fixture.directory + "/run", fixture.directory + "/run/shmd.lock")
    if isThere {
      #expect(mkdir(run, 0o755) == 0)
      close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
      #expect(chmod(file, 0o644) == 0)
    }
    let daemon = try fixture.start(prelude: "umask 022")
    try daemon.waitForLine("ready tables=")
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }

  /// He cannot read whose the lock is, which does not mean that nobody has it.
  @Test(.enabled(if: geteuid() == 0, "cannot run: needs root to become another user"))
  func aReloadByAnotherUserSaysWhoseItIs() throws {
    let fixture = try DaemonFixture()
    try fixture.openToAll()
    try fixture.configure("  []")
    let daemon = try fixture.start(prelude: "umask 022")
    try daemon.waitForLine("ready tables=")
    let reload = try fixture.start(["--reload"], prelude: fixture.running(as: 54_322))
    #expect(try reload.wait() == .code(1))
    #expect(
      reload.transcript == "\(fixture.directory)/run/shmd.lock: cannot be read: open: Permission denied (EACCES); "
        + "run this as root, or as the daemon's user")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0), "\(daemon.transcript)")
  }
}
