import SharedMemory

/// Which users may open the table: the rights of its two objects. The control object's follow from the data object's. The kernel and
/// ``TrustedOwners`` judge by them when a process opens the table.
extension Segment {
  /// Permission bits, owner and group of the data object.
  public struct Rights: Sendable, Equatable {
    /// Permission bits.
    public var mode: UInt32
    /// The user's number.
    public var owner: UInt32
    /// The group's number.
    public var group: UInt32

    public init(mode: UInt32, owner: UInt32, group: UInt32) {
      self.mode = mode
      self.owner = owner
      self.group = group
    }
  }

  public func rights() throws(EngineError) -> Rights {
    do throws(SystemError) {
      let status = try dataObject.status()
      return Rights(mode: status.mode, owner: status.owner, group: status.group)
    } catch {
      throw .system(error)
    }
  }

  /// By the creator, before the table is ready.
  func setFirstRights(_ options: SegmentOptions, _ control: SharedObject) throws(SystemError) {
    for (object, mode) in objects(control, mode: options.mode) {
      if options.owner != nil || options.group != nil { try object.setOwner(options.owner, group: options.group) }
      try object.setMode(mode)
    }
  }

  /// Sets the rights of both objects.
  ///
  /// Processes that have the table open keep it. While owner or group change hands, only the owner has any rights.
  /// - Throws: `invalid` for a mode that the protocol cannot keep, `refused` if the system refuses; then the rights are what they were.
  public func setRights(_ rights: Rights) throws(EngineError) {
    let control = try requireParticipant().object
    try Rights.check(mode: rights.mode)
    let current = try self.rights()
    do throws(SystemError) {
      let objects = objects(control, mode: rights.mode)
      if current.owner != rights.owner || current.group != rights.group {
        for (object, _) in objects { try object.setMode(0o600) }
        for (object, _) in objects { try object.setOwner(rights.owner, group: rights.group) }
      }
      for (object, mode) in objects { try object.setMode(mode) }
    } catch {
      restoreRights(current, control)
      throw EngineError(opening: error)
    }
  }

  /// As far as the system lets it: a table that stayed with its owner's rights alone would keep its users out.
  private func restoreRights(_ rights: Rights, _ control: SharedObject) {
    for (object, mode) in objects(control, mode: rights.mode) {
      try? object.setOwner(rights.owner, group: rights.group)
      try? object.setMode(mode)
    }
  }

  /// Each with its permission bits, if those of the data object are `mode`. Participants need to write *ctl*: users who may only read *data*
  /// get no rights to it.
  private func objects(_ control: SharedObject, mode: UInt32) -> [(SharedObject, mode: UInt32)] {
    [(control, mode: 0o600 | (mode & 0o020 != 0 ? 0o060 : 0)), (dataObject, mode: mode)]
  }
}

extension Segment.Rights {
  /// - Throws: `invalid` for a mode that gives more than the protocol can keep.
  static func check(mode: UInt32) throws(EngineError) {
    let option = "mode \(String(mode, radix: 8))"
    guard mode & ~0o666 == 0, mode & 0o600 == 0o600, mode & 0o002 == 0 else {
      throw .invalid(option, rule: "the owner needs read and write, others at most read, nobody execute")
    }
    guard mode & 0o020 == 0 || mode & 0o040 != 0 else {
      throw .invalid(option, rule: "who may write must also read")
    }
  }
}
