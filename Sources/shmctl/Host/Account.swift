import Glibc

/// The system's users and groups.
enum Account {
  /// By name, or by number if there is no group of that name.
  static func group(_ nameOrNumber: String) throws -> UInt32? { try number(of: nameOrNumber, in: "group") }

  /// By name, or by number if there is no user of that name.
  static func user(_ nameOrNumber: String) throws -> UInt32? { try number(of: nameOrNumber, in: "passwd") }

  private static func number(of nameOrNumber: String, in database: String) throws -> UInt32? {
    // getent itself takes digits for a number, and finds it only where somebody has it.
    if let fields = try Getent.fields(of: nameOrNumber, in: database), fields.count > 2 { return UInt32(fields[2]) }
    // All ones means "leave as it is" to chown.
    guard let number = UInt32(nameOrNumber), number != .max else { return nil }
    return number
  }

  /// The first user id that is a person's: below, logind leaves shared memory alone.
  static let firstLoginUser: UInt32 = 1000

  /// What a login user has to know who makes a table; nil for root, system users and lingering users.
  static var removalWarning: String? {
    let user = geteuid()
    guard user >= firstLoginUser, !lingers(user) else { return nil }
    return "it belongs to a login user: logind's RemoveIPC deletes it at the last logout; "
      + "run 'loginctl enable-linger', or let shmd own it"
  }

  /// Whether logind lets what is the user's stay after the last logout.
  static func lingers(_ user: UInt32) -> Bool {
    guard let name = try? Getent.fields(of: "\(user)", in: "passwd")?.first else { return false }
    return SystemFile.exists("/var/lib/systemd/linger/" + name)
  }
}
