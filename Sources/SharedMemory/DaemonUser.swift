/// The system user that the host's table daemon runs as.
///
/// Its tables are everyone's to use: whoever owns a table can misdirect its participants and feed its observers, and the
/// daemon is trusted as root is.
public enum DaemonUser {
  public static let name = "shmd"

  /// Its number; nil if there is no such system user. Reads a file each time: for opening, not for a hot path.
  public static var id: UInt32? { PasswdFile.text.flatMap(id(in:)) }

  /// The number in the text of a passwd file. Login users, 1000 and up, do not count: a person may be called anything.
  static func id(in passwd: String) -> UInt32? {
    PasswdFile.entries(in: passwd).first { $0.name == name && (1..<1000).contains($0.id) }?.id
  }
}
