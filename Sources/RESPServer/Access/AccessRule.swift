/// Grants rights to some of those who connect. Rules add up; what none grants is denied.
public struct AccessRule: Sendable, Equatable {
  public var users: [UInt32] = []
  /// Of a client's own group and the supplementary ones, any.
  public var groups: [UInt32] = []
  /// Also for those who come by TCP, of whom nothing is known.
  public var isForAnyone = false
  /// Names; nil for all tables.
  public var tables: [String]?
  /// Nil for all keys.
  public var keys: [KeyPattern]?
  public var rights: AccessRights

  public init(rights: AccessRights) { self.rights = rights }

  func isFor(_ peer: PeerCredentials?) -> Bool {
    if isForAnyone { return true }
    guard let peer else { return false }
    return users.contains(peer.user) || groups.contains(where: peer.groups.contains)
  }
}
