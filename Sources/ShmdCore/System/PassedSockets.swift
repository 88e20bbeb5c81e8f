import Glibc
import ToolSupport

/// Listening sockets that the service manager has made and passed on: the protocol of sd_listen_fds(3), without libsystemd.
///
/// They let a daemon without a network of its own listen on TCP, and keep clients waiting instead of refused while it restarts.
struct PassedSockets: Sendable {
  /// The first descriptor that is passed.
  private static let first: Int32 = 3
  /// A manager passes a few; more than this is no number of sockets.
  private static let most: Int32 = 1024

  private let byName: [String: [Int32]]

  /// - Parameters:
  ///   - process: the value of `LISTEN_PID`: for which process they are meant.
  ///   - count: that of `LISTEN_FDS`.
  ///   - names: that of `LISTEN_FDNAMES`: for each its `FileDescriptorName=`, between colons.
  init(process: String?, count: String?, names: String?) {
    guard process.flatMap(Int32.init) == getpid(), let count = count.flatMap(Int32.init),
      (1...Self.most).contains(count)
    else {
      byName = [:]
      return
    }
    let names = (names ?? "").split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    var byName: [String: [Int32]] = [:]
    for index in 0..<Int(count) {
      let descriptor = Self.first + Int32(index)
      // Not for the programs that this one might start.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      byName[index < names.count ? names[index] : "unknown", default: []].append(descriptor)
    }
    self.byName = byName
  }

  /// Of the environment. Once: whoever takes a descriptor closes it.
  static func ofThisProcess() -> PassedSockets {
    PassedSockets(
      process: HostFile.environment("LISTEN_PID"), count: HostFile.environment("LISTEN_FDS"),
      names: HostFile.environment("LISTEN_FDNAMES"))
  }

  subscript(name: String) -> [Int32] { byName[name] ?? [] }
}

extension ListenFailure {
  /// The configuration counts on the service manager, which has passed nothing of this name.
  static func nothingPassed(_ name: String) -> ListenFailure {
    ListenFailure(
      address: Scalars.passed,
      reason:
        "no socket named '\(name)' was passed; start a socket unit with FileDescriptorName=\(name), then shmd anew")
  }
}
