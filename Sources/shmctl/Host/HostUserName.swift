import SharedMemory

/// Users' names for listings: from /etc/passwd, which is read once.
enum HostUserName {
  private static let names = Dictionary(
    PasswdFile.entries(in: PasswdFile.text ?? "").map { ($0.id, String($0.name)) },
    uniquingKeysWith: { first, _ in first })

  /// The number itself for a user of a network's directory.
  static func of(_ id: UInt32) -> String { names[id] ?? "\(id)" }
}
