import Glibc
import HostSockets
import Logging

/// Listening sockets that the service manager has made and passed on: the protocol of sd_listen_fds(3), without libsystemd.
///
/// They let a daemon without a network of its own listen on TCP, and keep clients waiting instead of refused while it restarts.
struct PassedSockets: Sendable {
  /// The first descriptor that is passed.
  private static let first: Int32 = 3
  /// A manager passes a few; more than this is no number of sockets.
  private static let most: Int32 = 1024

  private let byName: [String: [Int32]]
  /// Names of those that were closed.
  let unwanted: [String]

  /// - Parameters:
  ///   - process: the value of `LISTEN_PID`: for which process they are meant.
  ///   - count: that of `LISTEN_FDS`.
  ///   - names: that of `LISTEN_FDNAMES`: for each its `FileDescriptorName=`, between colons.
  ///   - wanted: the names of those that are to be served. The others are closed: whoever connects is refused, instead of waiting for an
  ///     answer that nobody gives.
  init(process: String?, count: String?, names: String?, wanted: Set<String>) {
    guard process.flatMap(Int32.init) == getpid(), let count = count.flatMap(Int32.init),
      (1...Self.most).contains(count)
    else {
      (byName, unwanted) = ([:], [])
      return
    }
    let names = (names ?? "").split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    var byName: [String: [Int32]] = [:]
    var unwanted: [String] = []
    for index in 0..<Int(count) {
      let descriptor = Self.first + Int32(index)
      let name = index < names.count ? names[index] : "unknown"
      guard wanted.contains(name) else {
        unwanted.append(name)
        close(descriptor)
        continue
      }
      // Not for the programs that this one might start.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      byName[name, default: []].append(descriptor)
    }
    (self.byName, self.unwanted) = (byName, unwanted)
  }

  /// Of the environment. Once: whoever takes a descriptor closes it.
  static func ofThisProcess(for configuration: Configuration) -> PassedSockets {
    let servers = ["resp": configuration.resp?.listening, "monitoring": configuration.monitoring]
    return PassedSockets(
      process: HostProcess.environment("LISTEN_PID"), count: HostProcess.environment("LISTEN_FDS"),
      names: HostProcess.environment("LISTEN_FDNAMES"), wanted: Set(servers.filter { $0.value?.isPassed == true }.keys))
  }

  /// The path of a server's first Unix socket that has one.
  func path(of server: String) -> String? { byName[server]?.lazy.compactMap(BoundSocket.path).first }

  /// Those for a server, if it counts on any; said where there is none and it listens elsewhere, too.
  /// - Throws: there is none, and nowhere else to listen.
  func sockets(_ server: String, _ listening: Listening, _ log: Logger) throws(ListenFailure) -> [Int32] {
    guard listening.isPassed else { return [] }
    let found = byName[server] ?? []
    if found.isEmpty {
      let failure = ListenFailure.nothingPassed(server)
      if listening.listen == nil { throw failure }
      log.error("\(server) served on its 'listen' alone", metadata: ["problem": "\(failure)"])
    }
    return found
  }
}

extension ListenFailure {
  /// The configuration counts on the service manager, which has passed nothing of this name.
  fileprivate static func nothingPassed(_ name: String) -> ListenFailure {
    ListenFailure(
      address: Listening.passed,
      reason:
        "no socket named '\(name)' was passed; start a socket unit with FileDescriptorName=\(name), then shmd anew")
  }
}
