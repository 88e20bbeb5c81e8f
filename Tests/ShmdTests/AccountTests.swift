import Glibc
import TestSupport
import Testing

/// Users and groups that the host cannot look up just now, as where LDAP does not answer yet: nobody knows whether they are there.
@Suite struct AccountTests {
  /// Puts another /etc before the daemon: its accounts lie in the fixture's directory, in files that lead to themselves until a test writes others.
  private static func prelude(_ fixture: DaemonFixture) -> String {
    let accounts = "\(fixture.directory)/accounts"
    let script =
      "mount -t tmpfs none /etc && mkdir -p \(accounts) && ln -sf group \(accounts)/group && ln -s \(accounts)/group /etc/group "
      + "&& exec \"$0\" \"$@\""
    return "set -- -m /bin/sh -c '\(script)' \"$0\" \"$@\"; BASH_ARGV0=/usr/bin/unshare"
  }

  private static func remove(_ fixture: DaemonFixture) {
    unlink("\(fixture.directory)/accounts/group")
    rmdir("\(fixture.directory)/accounts")
  }

  /// Containers may be denied it, root or not.
  private static let canHideAccounts = system("unshare -m true 2>/dev/null") == 0

  @Test(.enabled(if: canHideAccounts, "cannot run: needs the right to a mount namespace"))
  func aGroupThatCannotBeLookedUpEndsAStartForNowAndACheckAsARefusal() throws {
    let fixture = try DaemonFixture()
    defer { Self.remove(fixture) }
    let name = fixture.tableName()
    try fixture.configure("  - {name: \(name), capacity: 2MiB, group: some-group}")
    let prelude = Self.prelude(fixture)
    let daemon = try fixture.start(prelude: prelude)
    let exit = try daemon.wait()
    #expect(daemon.transcript.contains("group 'some-group' cannot be looked up (error 40)"), "\(daemon.transcript)")
    #expect(exit == .code(75))
    let check = try fixture.start(["--check", "--user", "root"], prelude: prelude)
    #expect(try check.wait() == .code(78), "\(check.transcript)")
    // What a person has to mend is not mended by another start.
    try fixture.configure("  - {name: \(name), capacity: 2MiB, group: some-group, color: red}")
    let wrong = try fixture.start(prelude: prelude)
    #expect(try wrong.wait() == .code(78), "\(wrong.transcript)")
  }

  /// A service manager gives up where the daemon ends at once, time after time.
  @Test(.enabled(if: canHideAccounts, "cannot run: needs the right to a mount namespace"))
  func underAServiceManagerAStartWaitsForGroupsToBeLookedUp() throws {
    let fixture = try DaemonFixture()
    defer { Self.remove(fixture) }
    try fixture.configure("  - {name: \(fixture.tableName()), capacity: 2MiB, group: some-group}")
    let manager = try NotifySocket(fixture.directory + "/notify")
    let daemon = try fixture.start(
      environment: ["NOTIFY_SOCKET": manager.address], prelude: Self.prelude(fixture))
    _ = try manager.waitForLine(containing: "STATUS=waits for users and groups")
    let group = "\(fixture.directory)/accounts/group"
    let made = open(group + ".new", O_CREAT | O_WRONLY, 0o644)
    let line = Array("some-group:x:4711:\n".utf8)
    #expect(write(made, line, line.count) == line.count)
    close(made)
    #expect(rename(group + ".new", group) == 0)
    try daemon.waitForLine("ready tables=")
    daemon.signal(SIGTERM)
    #expect(try daemon.wait() == .code(0))
  }
}
