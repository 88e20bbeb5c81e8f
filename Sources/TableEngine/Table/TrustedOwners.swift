import Glibc
import SharedMemory

/// Whose tables a process uses besides those of root, of its own effective user and of the user that `shmd` runs as.
///
/// `/dev/shm` is writable by all, so whoever comes first has a table's name. What a stranger puts there must neither be
/// read as the table that was meant nor taken part in.
public enum TrustedOwners: Sendable, Equatable, ExpressibleByArrayLiteral {
  /// These users too, by number: to take part, to observe and to drop.
  case users([UInt32])
  /// Whoever it is, to observe and to drop. Not to take part: who owns a table can misdirect its participants, so whom to
  /// trust that far is said by number.
  case everyone

  public init(arrayLiteral users: UInt32...) { self = .users(users) }

  /// What an object is opened or looked for.
  package enum Use {
    case takingPart
    case observing
    case dropping
  }

  package func include(_ object: NamedObject, for use: Use) -> Bool {
    let owner = object.status.owner
    return include(owner, for: use) || owner == geteuid() && SharedObject.isOwn(name: object.name, object.status)
  }

  /// A user, by number.
  package func include(_ owner: UInt32, for use: Use) -> Bool {
    if owner == 0 || Self.isOwn(owner) { return true }
    switch self {
    case .everyone where use != .takingPart: return true
    case .users(let users) where users.contains(owner): return true
    default: return owner == DaemonUser.id
    }
  }

  /// Whether a user is the process's own effective one.
  private static func isOwn(_ owner: UInt32) -> Bool { owner == geteuid() && isOfOneUser(owner) }

  /// Whether a number tells one user from all others. In a user namespace all users that it does not map have one number, that of
  /// user_namespaces(7)'s overflow user: that number says nothing, also where the process has it itself.
  package static func isOfOneUser(_ user: UInt32) -> Bool { user != overflowUser || isInInitialUserNamespace }

  private static let overflowUser: UInt32 =
    HostFile.read("/proc/sys/kernel/overflowuid")?.split(separator: "\n").first.flatMap { UInt32($0) } ?? 65_534

  /// That one alone maps every user to itself.
  private static var isInInitialUserNamespace: Bool {
    HostFile.read("/proc/self/uid_map")?.split { $0 == " " || $0 == "\n" } == ["0", "0", "4294967295"]
  }

  /// These, and the user that a table is made for, who owns what a creator that died had given away already.
  func adding(_ user: UInt32?) -> TrustedOwners {
    guard let user, case .users(let users) = self else { return self }
    return .users(users + [user])
  }

  /// Refuses what others may have put under a name. By the status of what was opened: the name may have passed to another
  /// object since.
  /// - Throws: `foreign`, `notATable`.
  func check(_ status: SharedObject.Status, _ object: String, for use: Use) throws(EngineError) {
    let found = NamedObject(name: object, status: status)
    guard include(found, for: use) else { throw .foreign(found) }
    guard status.isRegular else { throw .notATable("\(found)") }
    // A user who may write an object of a trusted user, and owns none, could put it under a second name.
    guard status.links <= 1 else { throw .notATable("\(found), under \(status.links) names") }
  }
}
