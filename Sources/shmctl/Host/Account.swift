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
}
