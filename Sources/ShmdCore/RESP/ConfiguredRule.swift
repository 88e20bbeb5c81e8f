import RESPServer

/// A rule of `resp: access`, with where it is given.
struct ConfiguredRule: Sendable, Equatable {
  var rule: AccessRule
  var line: Int

  /// Wherever both are given.
  static func == (one: ConfiguredRule, other: ConfiguredRule) -> Bool { one.rule == other.rule }

  /// As a configuration writes it.
  var written: String {
    func list(_ key: AccessKeyword, _ values: [String]?) -> String? {
      values.map { "\(key.rawValue): [\($0.joined(separator: ", "))]" }
    }
    let parts = [
      rule.users.isEmpty ? nil : list(.users, rule.users.map(String.init)),
      rule.groups.isEmpty ? nil : list(.groups, rule.groups.map(String.init)),
      rule.isForAnyone ? "\(AccessKeyword.anyone.rawValue): true" : nil,
      list(.tables, rule.tables?.map(ConfigurationText.quoted)),
      list(.keys, rule.keys?.map { ConfigurationText.quoted($0.description) }),
      "\(AccessKeyword.rights.rawValue): [\(rule.rights)]",
    ]
    return "{\(parts.compactMap(\.self).joined(separator: ", "))}"
  }
}

/// The keys of a rule.
enum AccessKeyword: String, CaseIterable, Sendable {
  case users
  case groups
  case anyone
  case tables
  case keys
  case rights
}
