/// A user as messages name one: by number, and by name where `/etc/passwd` has it.
public struct HostUser: Sendable, Equatable, CustomStringConvertible {
  /// The user's number.
  public let id: UInt32
  /// The account's name. Nil for a user of a network's directory, and for one whose account was removed.
  public let name: String?

  /// Reads a file: for errors and listings, not for a hot path.
  public init(id: UInt32) {
    self.init(id: id, in: PasswdFile.text ?? "")
  }

  init(id: UInt32, in passwd: String) {
    self.id = id
    name = PasswdFile.entries(in: passwd).first { $0.id == id }.map { String($0.name) }
  }

  public var description: String { name.map { "user '\($0)' (uid \(id))" } ?? "uid \(id)" }
}
