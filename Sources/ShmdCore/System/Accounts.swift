import Glibc

/// Users and groups by name or number, as the host knows them (NSS: files, sssd, LDAP).
enum Accounts {
  static func user(_ text: String) throws(Complaint) -> UInt32 {
    if let number = number(text) { return number }
    var entry = unsafe passwd()
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    var found: UnsafeMutablePointer<passwd>?
    let failure = unsafe getpwnam_r(text, &entry, &buffer, buffer.count, &found)
    guard failure == 0, unsafe found != nil else { throw unknown("user", text, failure) }
    return unsafe entry.pw_uid
  }

  static func group(_ text: String) throws(Complaint) -> UInt32 {
    if let number = number(text) { return number }
    var entry = unsafe Glibc.group()
    // A group's members come with it: a large one needs room.
    var buffer = [CChar](repeating: 0, count: 1 << 20)
    var found: UnsafeMutablePointer<Glibc.group>?
    let failure = unsafe getgrnam_r(text, &entry, &buffer, buffer.count, &found)
    guard failure == 0, unsafe found != nil else { throw unknown("group", text, failure) }
    return unsafe entry.gr_gid
  }

  /// A user's name; nil if the host does not know the number.
  static func name(ofUser number: UInt32) -> String? {
    var entry = unsafe passwd()
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    var found: UnsafeMutablePointer<passwd>?
    guard unsafe getpwuid_r(number, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else { return nil }
    return unsafe String(cString: entry.pw_name)
  }

  /// A group's name; nil if the host does not know the number.
  static func name(ofGroup number: UInt32) -> String? {
    var entry = unsafe Glibc.group()
    var buffer = [CChar](repeating: 0, count: 1 << 20)
    var found: UnsafeMutablePointer<Glibc.group>?
    guard unsafe getgrgid_r(number, &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else { return nil }
    return unsafe String(cString: entry.gr_name)
  }

  /// Whether this process may give its objects to a group: root, or a member.
  static func isMember(of group: UInt32) -> Bool {
    if geteuid() == 0 || getegid() == group { return true }
    let count = getgroups(0, nil)
    guard count > 0 else { return false }
    var groups = [gid_t](repeating: 0, count: Int(count))
    return unsafe getgroups(count, &groups) > 0 && groups.contains(group)
  }

  static var isRoot: Bool { geteuid() == 0 }
  static var effectiveUser: UInt32 { geteuid() }

  /// `UInt32.max` means "leave as it is" to the system, so no account has it.
  private static func number(_ text: String) -> UInt32? {
    guard let first = text.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first),
      let number = UInt32(text), number != .max
    else { return nil }
    return number
  }

  private static func unknown(_ kind: String, _ name: String, _ failure: Int32) -> Complaint {
    if failure != 0, failure != ENOENT {
      return Complaint(
        "\(kind) \(name.quotedExcerpt) cannot be looked up (error \(failure)); give its number", isTemporary: true)
    }
    return Complaint(
      "there is no \(kind) \(name.quotedExcerpt) on this host; create it, or give another name or a number")
  }
}
