/// What rules grant, and commands need.
public struct AccessRights: OptionSet, Sendable, Hashable, CustomStringConvertible {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// To know of a key: whether it is there, its value, its type, when it expires, that it has changed.
  public static let read = AccessRights(rawValue: 1)
  /// To store and to remove a key.
  public static let write = AccessRights(rawValue: 2)
  /// To empty a table; with it on all tables, to change the server and to end others' connections.
  public static let admin = AccessRights(rawValue: 4)

  /// Each by the word of the configuration.
  public static let words: [(String, AccessRights)] = [("read", .read), ("write", .write), ("admin", .admin)]

  /// The words, in their order.
  public var description: String {
    Self.words.filter { contains($0.1) }.map(\.0).joined(separator: ", ")
  }
}
