import Foundation
import Glibc
import SharedTable
import TestSupport
import Testing

/// What a resize leaves that fails, or is killed, between the table that was and the new one.
@Suite struct ResizeTests {
  private static let mayReplaceDevShm = (try? CommandRun(shell: "unshare -m true").status) == 0

  /// - Parameter size: of a /dev/shm in which the commands run, and which nobody else sees.
  private func run(size: String, _ commands: String) throws -> CommandRun {
    let script = """
      mount -t tmpfs -o size=\(size) none /dev/shm && cd /dev/shm || exit 99
      value() { head -c 1000000 /dev/zero; }
      \(commands)
      """
    return try CommandRun(shell: "exec unshare -m sh -c \"$SCRIPT\" 2>&1 </dev/null", environment: ["SCRIPT": script])
  }

  /// The table of 8 MiB, the copy of what it holds and the new one of 16 MiB.
  @Test(.enabled(if: mayReplaceDevShm, "cannot run: needs root, and the right to a mount namespace"))
  func aTableThatClaimsItsMemoryAtOnceIsResizedWhereAllThreeFit() throws {
    let run = try run(
      size: "36m",
      """
      "$SHMCTL" create t --capacity 8MiB --preallocate && value | "$SHMCTL" set -t t k - || exit 98
      "$SHMCTL" resize t --capacity 16MiB || echo "resize: $?"
      "$SHMCTL" get -t t k | wc -c; "$SHMCTL" tables
      """)
    #expect(run.text == "1000000\nt\n", "\(run.text)")
  }

  /// The old one and its copy fit, the new one does not.
  @Test(
    .enabled(if: mayReplaceDevShm, "cannot run: needs root, and the right to a mount namespace"),
    arguments: [
      // Claims all at once, of a larger capacity or of another variant.
      (size: "29m", create: "--capacity 8MiB --preallocate", resize: "--capacity 16MiB"),
      (size: "20m", create: "--capacity 8MiB --preallocate", resize: "--variant rwlock"),
      (size: "20m", create: "--capacity 8MiB", resize: "--variant rwlock"),
    ])
  func aTableForWhoseSuccessorThereIsNoRoomStaysAsItIs(size: String, create: String, resize: String) throws {
    let run = try run(
      size: size,
      """
      "$SHMCTL" create t --mode 640 \(create) || exit 98
      for key in 1 2 3 4 5 6; do value | "$SHMCTL" set -t t $key - || exit 97; done
      "$SHMCTL" resize t \(resize); echo "resize: $?"
      "$SHMCTL" get -t t 6 | wc -c; "$SHMCTL" tables; stat -c %a shmtable.t.data
      """)
    #expect(run.text.hasSuffix("\nresize: 5\n1000000\nt\n640\n"), "\(run.text)")
    #expect(run.text.contains("/dev/shm has room for ") && run.text.contains("nothing has changed"), "\(run.text)")
  }

  /// Killed when the table's name is gone: what `doctor` says brings it back as it was.
  @Test func whatAKilledResizeLeavesComesBackWithItsRights() throws {
    let made = Table.Options(
      capacityBytes: 32 << 20, mode: 0o640, limboBudgetBytes: 3 << 20, stalledReaderPolicy: .refuse, preallocate: true,
      hugePages: false)
    var wasBetween = false
    for _ in 1...20 where !wasBetween {
      let table = try TestTable(made)
      let seed: UInt64?
      do {
        let old = try table.open()
        seed = old.segment.hashSeed
        for start in stride(from: 0, to: 60_000, by: 1000) {
          try old.barrier { tx in for index in start..<start + 1000 { try tx.set("key-\(index)", index) } }
        }
      }
      let old = try FileManager.default.attributesOfItem(atPath: table.dataPath)[.systemFileNumber] as? Int
      let resize = try WorkerProcess(
        CommandRun.path, ["resize", table.name, "--variant", "rwlock"], timeoutSeconds: 100)
      let copy = "\(table.name).resize.\(resize.pid)"
      defer { removeObjects(ofTable: copy) }
      _ = eventually {
        (try? FileManager.default.attributesOfItem(atPath: table.dataPath)[.systemFileNumber] as? Int) != old
      }
      resize.kill(SIGKILL)
      _ = try resize.wait()
      // This process may have been too late to see it.
      guard (try? table.open()) == nil else { continue }
      wasBetween = true
      let finding = try CommandRun(["doctor", copy])
      let cure = try #require(finding.text.firstMatch(of: /\n  cure: shmctl (copy [^\n]+)\n/)?.1, "\(finding.text)")
      let cured = try CommandRun(shell: "\"$SHMCTL\" " + cure.replacing("&& shmctl", with: "&& \"$SHMCTL\""))
      #expect(cured.status == 0, "\(cured.errors)")
      let new = try table.open()
      let options = try new.administration.options()
      #expect(new.count == 60_000 && new.variant == .rwlock && new.segment.hashSeed == seed)
      #expect(options.mode == 0o640 && options.limboBudgetBytes == 3 << 20 && options.stalledReaderPolicy == .refuse)
      #expect(options.preallocate && !options.hugePages)
      #expect(try Table.names().filter { $0.hasPrefix(table.name) } == [table.name])
    }
    if !wasBetween { print("not shown: the resize was never killed while the name was free") }
  }
}
