import Glibc
import TestSupport
import Testing

/// Tables that lose their names in a /dev/shm that has no room for two of them.
@Suite struct ScarceRoomTests {
  private static let mayMount = system("unshare -m true 2>/dev/null") == 0

  /// A daemon with one table of 8 MiB, in a /dev/shm of 12 MiB that nobody else sees.
  private struct Scene {
    private let fixture: DaemonFixture
    let daemon: LoggingProcess
    private let stores: String

    init(_ settings: String, interval: String) throws {
      fixture = try DaemonFixture()
      stores = fixture.directory + "/stores"
      try fixture.write(
        """
        interval: \(interval)
        store-directory: \(stores)
        tables: [{name: t, capacity: 8MiB, \(settings)}]
        """)
      let script = "mount -t tmpfs -o size=12m none /dev/shm && exec \"$0\" \"$@\""
      daemon = try fixture.start(
        prelude: "set -- -m /bin/sh -c '\(script)' \"$0\" \"$@\"; BASH_ARGV0=/usr/bin/unshare")
      try daemon.waitForLine("ready tables=")
    }

    /// Runs a line of a shell that sees the daemon's /dev/shm.
    func run(_ line: String) throws -> String {
      let run = try WorkerProcess.run(
        "/usr/bin/nsenter",
        ["-t", "\(daemon.pid)", "-m", "/bin/sh", "-c", line, WorkerProcess.productDirectory + "/shmctl"],
        timeoutSeconds: 60)
      #expect(run.exit == .code(0), "\(line): \(run.errors)")
      return run.output
    }

    func remove() { _ = try? WorkerProcess.run("/bin/rm", ["-rf", stores], timeoutSeconds: 60) }
  }

  /// What the daemon has mapped of the table before takes the room that the new one needs.
  @Test(
    .enabled(if: mayMount, "cannot run: needs root, and the right to a mount namespace"),
    arguments: [
      "preallocate: true", "preallocate: true, durability: relaxed(60min)", "durability: relaxed(60min)",
    ], [false, true])
  func aTableThatWasDroppedComesBackWhereThereIsNoRoomForTwo(_ settings: String, isReloaded: Bool) throws {
    let isDurable = settings.contains("durability")
    // Where it is reloaded, no round comes.
    let scene = try Scene(settings, interval: isReloaded ? "60min" : "20ms")
    defer { scene.remove() }
    _ = try scene.run("for key in 1 2 3 4 5 6; do head -c 1000000 /dev/zero | \"$0\" set -t t $key - || exit; done")
    for _ in 0..<2 {
      _ = try scene.run("\"$0\" drop t")
      if isReloaded { scene.daemon.signal(SIGHUP) }
      try scene.daemon.waitForLine(isDurable ? "table restored from its store keys=6" : "table created")
    }
    if isDurable { #expect(try scene.run("\"$0\" get -t t 6 | wc -c") == "1000000\n") }
    scene.daemon.signal(SIGTERM)
    #expect(try scene.daemon.wait() == .code(0), "\(scene.daemon.transcript)")
    // A round may come between the two names that a drop removes.
    #expect(!isReloaded || !scene.daemon.transcript.contains("cannot be had"), "\(scene.daemon.transcript)")
  }
}
