import NIOCore
import NIOPosix

extension ChannelPipeline.SynchronousOperations {
  /// Of a Unix socket's other end; nil for TCP.
  func peerCredentials(of channel: any Channel, withGroups: Bool) throws -> PeerCredentials? {
    guard case .unixDomainSocket? = channel.localAddress else { return nil }
    return try withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      PeerCredentials(descriptor: $0, withGroups: withGroups)
    } ?? nil
  }
}
