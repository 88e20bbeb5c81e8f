/// Has writes to mirrored tables made in the stores that they mirror.
public protocol UpstreamWriter: Sendable {
  /// The connection by which a table follows its store just now.
  ///
  /// Whoever writes asks for it before the table is looked at: a store that was put back to an old copy ends the connection, so that
  /// nothing that was concluded from one history is written into another.
  /// - Throws: `away` if the table does not follow.
  func session(ofTable name: String) throws(UpstreamRefusal) -> any UpstreamSession
}
