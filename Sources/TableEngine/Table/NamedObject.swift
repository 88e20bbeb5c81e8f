import Glibc
public import SharedMemory

/// What has one of a table's two names: for refusals and for dropping, which need no right to open it.
public struct NamedObject: Sendable, Equatable, CustomStringConvertible {
  /// In `/dev/shm`.
  public let name: String
  /// As it was found: size, memory behind it, rights.
  public let status: SharedObject.Status

  /// Reads a file: for errors and listings.
  public var owner: HostUser { HostUser(id: status.owner) }

  init(name: String, status: SharedObject.Status) {
    self.name = name
    self.status = status
  }

  /// What the name leads to now; nil if to nothing, or if that cannot be seen.
  static func find(_ name: String) -> NamedObject? {
    guard let status = try? SharedObject.look(at: name) else { return nil }
    return NamedObject(name: name, status: status)
  }

  /// What has a table's two names now.
  public static func pair(ofTable table: String) -> (data: NamedObject?, control: NamedObject?) {
    (find(ObjectName.data(table)), find(ObjectName.control(table)))
  }

  /// What has a table's names now.
  static func all(ofTable table: String) -> [NamedObject] {
    [ObjectName.data(table), ObjectName.control(table)].compactMap(find)
  }

  /// Who has one of the table's names and is no user whose tables this process observes.
  public static func foreignOwner(ofTable table: String, trusted: TrustedOwners) -> HostUser? {
    all(ofTable: table).first { !trusted.include($0, for: .observing) }?.owner
  }

  /// Removes the name, unless another object has got it meanwhile.
  /// - Returns: whether the name was this object's and is gone.
  func unlink() throws(SystemError) -> Bool {
    // After this look another process could still put its own object there, which would lose its name. No system call
    // removes a name only if it leads to a certain object.
    guard let now = try SharedObject.look(at: name), now.isSameObject(as: status) else { return false }
    do throws(SystemError) {
      try SharedObject.unlink(name: name)
      return true
    } catch {
      guard error.errno == ENOENT else { throw error }
      return false
    }
  }

  public var description: String {
    let kind = status.isRegular && status.size == 0 ? "empty object" : status.kind.rawValue
    let article = "aeiou".contains(kind.first ?? "x") ? "an" : "a"
    return "/dev/shm/\(name) is \(article) \(kind) of \(owner)"
  }
}

extension EngineError {
  /// Runs `body`, whose errors say whose object stands behind a refusal.
  ///
  /// - Parameter use: for which the name is looked up.
  static func explaining<R>(
    _ table: String, _ trusted: TrustedOwners, for use: TrustedOwners.Use, _ body: () throws(EngineError) -> R
  ) throws(EngineError) -> R {
    do throws(EngineError) { return try body() } catch { throw error.explained(table, trusted, for: use) }
  }

  /// Explains an error that an object under the table's names may have caused. If that is a stranger's, the error
  /// becomes `foreign`; `refused` names what was found. Other errors stay what they are.
  private func explained(_ table: String, _ trusted: TrustedOwners, for use: TrustedOwners.Use) -> EngineError {
    switch self {
    case .noSuchTable, .exists, .notATable, .refused:
      let found = NamedObject.all(ofTable: table)
      if let foreign = found.first(where: { !trusted.include($0, for: use) }) { return .foreign(foreign) }
      if case .refused(let error, nil) = self { return .refused(error, found.first) }
      return self
    default: return self
    }
  }
}
