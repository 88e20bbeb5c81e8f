/// A store that can be mirrored, as the mirror asks it. The one of the daemon is etcd's (`EtcdSource`); tests have one of their own.
public protocol MirrorSource: Sendable {
  /// Connects to one process of the store, runs `body`, and disconnects when it returns or throws.
  /// - Parameter attempt: counts up: another attempt, another process.
  /// - Throws: what `body` throws; `away`, `stopped`.
  func withSession(_ attempt: Int, _ body: @Sendable (any MirrorSession) async throws -> Void) async throws
}

/// Makes the source of a mirror.
public typealias MirrorSourceMaker = @Sendable (MirrorAddress, MirrorAccess) -> any MirrorSource
