/// What one client may do to the keys of one table.
///
/// A class, because each request passes it on: a copy of a struct would count the references of its list.
final class TableAccess: Sendable {
  private struct Grant: Sendable {
    let pattern: KeyPattern
    let rights: AccessRights
  }

  let name: String
  /// To every key.
  let everywhere: AccessRights
  /// To some key at least.
  let somewhere: AccessRights
  /// What is granted to some keys beyond that.
  private let grants: [Grant]

  /// - Parameter rules: those that are for the client.
  init(_ rules: [AccessRule], table name: String) {
    self.name = name
    var everywhere: AccessRights = []
    var partial: [Grant] = []
    for rule in rules where rule.tables?.contains(name) ?? true {
      if let keys = rule.keys, !keys.contains(where: \.isEveryKey) {
        partial += keys.map { Grant(pattern: $0, rights: rule.rights) }
      } else {
        everywhere.formUnion(rule.rights)
      }
    }
    self.everywhere = everywhere
    grants = partial.filter { !everywhere.isSuperset(of: $0.rights) }
    somewhere = grants.reduce(everywhere) { $0.union($1.rights) }
  }

  /// - Returns: those of `rights` that are not granted to a key.
  func missing(_ rights: AccessRights, to key: Bytes) -> AccessRights {
    var missing = rights.subtracting(everywhere)
    if missing.isEmpty { return [] }
    for grant in grants where !missing.isDisjoint(with: grant.rights) && grant.pattern.matches(key) {
      missing.subtract(grant.rights)
    }
    return missing
  }

  func mayRead(_ key: Bytes) -> Bool { missing(.read, to: key).isEmpty }
}
