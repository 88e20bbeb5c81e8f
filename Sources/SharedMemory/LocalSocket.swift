import Glibc

/// A connection to a server at a Unix socket of this host, for a caller that blocks. Every wait ends at an instant of the monotonic clock.
///
/// One thread uses it at a time. It is closed when it goes, also for the server where a child of `fork()` still has a copy.
public struct LocalSocket: ~Copyable {
  /// How many bytes the path of a Unix socket may have: one less than `sun_path`, which ends with a zero.
  public static let maximumPathLength = 107

  private let descriptor: Int32

  /// Connects. Blocks while more connections wait for the server than it has room for.
  /// - Parameters:
  ///   - path: at most ``maximumPathLength`` bytes.
  ///   - instant: of the monotonic clock, in nanoseconds; `ETIMEDOUT` after it.
  public init(connectingTo path: String, until instant: UInt64) throws(SystemError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // Without a path, or with a zero byte, it would be an abstract name, or end early: another server than the one asked for.
    guard !bytes.isEmpty, !bytes.contains(0) else { throw SystemError(call: "connect", errno: EINVAL) }
    guard bytes.count <= Self.maximumPathLength else {
      throw SystemError(call: "connect", errno: ENAMETOOLONG)
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError(call: "socket", errno: errno) }
    do throws(SystemError) {
      try Self.connect(descriptor, address, until: instant)
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// The user who listened at the other end, as the kernel wrote it down; nil if it does not tell.
  public var peerUser: UInt32? { SocketCredentials(descriptor: descriptor)?.user }

  /// Sends all bytes. The process gets no SIGPIPE.
  /// - Throws: if the kernel has not taken them all: `ETIMEDOUT`, `EPIPE` and others.
  public func send(_ bytes: [UInt8], until instant: UInt64) throws(SystemError) {
    var sent = 0
    while sent < bytes.count {
      let rest = bytes.count - sent
      let count = unsafe bytes.withUnsafeBytes { all in
        unsafe Glibc.send(descriptor, all.baseAddress! + sent, rest, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count >= 0 {
        sent += count
      } else if errno == EAGAIN {
        try wait(for: POLLOUT, until: instant, "send")
      } else if errno != EINTR {
        throw SystemError(call: "send", errno: errno)
      }
    }
  }

  /// Appends what arrives, as soon as something does.
  /// - Parameter most: so many bytes at most.
  /// - Returns: how many; 0 at the end of what the server sends.
  public func receive(
    into bytes: inout [UInt8], most: Int, until instant: UInt64
  ) throws(SystemError) -> Int {
    var chunk = [UInt8](repeating: 0, count: most)
    while true {
      let count = unsafe recv(descriptor, &chunk, most, Int32(MSG_DONTWAIT))
      if count >= 0 {
        bytes += chunk[..<count]
        return count
      } else if errno == EAGAIN {
        try wait(for: POLLIN, until: instant, "recv")
      } else if errno != EINTR {
        throw SystemError(call: "recv", errno: errno)
      }
    }
  }

  /// Returns when it may go on, or when there is an error to be told.
  private func wait(for event: Int32, until instant: UInt64, _ call: StaticString) throws(SystemError) {
    let left = try Self.left(until: instant, call)
    var poller = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    // Up to the next millisecond: less would be a busy loop at the end.
    let milliseconds = Int32(clamping: left / 1_000_000 + 1)
    if unsafe poll(&poller, 1, milliseconds) < 0, errno != EINTR { throw SystemError(call: "poll", errno: errno) }
  }

  private static func left(until instant: UInt64, _ call: StaticString) throws(SystemError) -> UInt64 {
    let now = HostClock.monotonicNanoseconds
    guard now < instant else { throw SystemError(call: call, errno: ETIMEDOUT) }
    return instant - now
  }

  private static func connect(
    _ descriptor: Int32, _ address: sockaddr_un, until instant: UInt64
  ) throws(SystemError) {
    while true {
      // A connect to a Unix socket waits for room as long as a send would, and then says EAGAIN.
      var left = timeval(nanoseconds: try left(until: instant, "connect"))
      let size = socklen_t(MemoryLayout<timeval>.size)
      guard unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &left, size) == 0 else {
        throw SystemError(call: "setsockopt", errno: errno)
      }
      let failed = unsafe withUnsafePointer(to: address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      if failed == 0 { return }
      if errno != EINTR, errno != EAGAIN { throw SystemError(call: "connect", errno: errno) }
    }
  }
}

extension timeval {
  /// At least a microsecond: zero would be for ever. At most a day.
  fileprivate init(nanoseconds: UInt64) {
    let microseconds = min(max(1, nanoseconds / 1000), 86_400_000_000)
    self.init(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
  }
}
