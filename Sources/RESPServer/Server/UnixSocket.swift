import Glibc
import NIOCore
import NIOPosix

enum UnixSocket {
  /// Whether somebody accepts connections at this path.
  static func isListenedTo(_ path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8).prefix(107)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, size) == 0 }
    }
  }
}

extension ChannelPipeline.SynchronousOperations {
  /// Of a Unix socket's other end; nil for TCP.
  func peerCredentials(of channel: any Channel) throws -> PeerCredentials? {
    guard case .unixDomainSocket? = channel.localAddress else { return nil }
    return try withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { PeerCredentials(descriptor: $0) } ?? nil
  }
}
