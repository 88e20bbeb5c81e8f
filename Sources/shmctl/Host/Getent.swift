import Glibc

/// The host's databases of users and groups (files, systemd, sssd, LDAP), by getent(1).
///
/// Not by `getgrnam` and its like: they load the host's NSS modules into the process, which a static program can do only
/// where its C library is the host's to the very release.
enum Getent {
  /// A large group's members come with it.
  private static let tool = HostTool("/usr/bin/getent", longest: 1 << 20, silent: false)

  /// The fields of the entry of this key; nil if there is none, or no getent.
  static func fields(of key: String, in database: String) throws -> [Substring]? {
    try tool.firstLine(["--", database, key])?.split(separator: ":", omittingEmptySubsequences: false)
  }

  /// All entries that the database tells; a directory service may keep its own to itself.
  static func entries(of database: String) throws -> [Substring] { try tool.lines(["--", database]) }
}
