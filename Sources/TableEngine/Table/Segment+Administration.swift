import SharedMemory

/// What a running table's owner may look at and change online. Nobody needs to be told: barriers read the limits
/// anew each time.
extension Segment {
  /// What readers may keep from being reused, and what happens beyond.
  public struct Limits: Sendable, Equatable {
    /// What readers may keep from being reused, in bytes.
    public var limboBudgetBytes: Int
    /// What happens beyond.
    public var stalledReaderPolicy: StalledReaderPolicy

    public init(limboBudgetBytes: Int, stalledReaderPolicy: StalledReaderPolicy) {
      self.limboBudgetBytes = limboBudgetBytes
      self.stalledReaderPolicy = stalledReaderPolicy
    }
  }

  /// - Returns: how many bytes of the data this process maps by huge pages now.
  public func backAllByHugePages() throws(EngineError) -> Int {
    try checkOfThisProcess()
    return HugePages(self).backAll()
  }

  public func limits() throws(EngineError) -> Limits {
    let ctl = try requireParticipant().ctl
    let policy = StalledReaderPolicy(rawValue: ctl.loadRelaxed(ControlLayout.stalledReaderPolicy))
    return Limits(
      limboBudgetBytes: Int(clamping: ctl.loadRelaxed(ControlLayout.limboBudget)),
      stalledReaderPolicy: policy ?? .refuse
    )
  }

  /// Relaxed, and without the writer lock: each limit is one word, and a barrier that still sees the old one is a
  /// barrier that came a moment earlier.
  public func setLimits(_ limits: Limits) throws(EngineError) {
    let ctl = try requireParticipant().ctl
    try SegmentOptions(limboBudgetBytes: limits.limboBudgetBytes).check()
    ctl.storeRelaxed(ControlLayout.limboBudget, UInt64(limits.limboBudgetBytes))
    ctl.storeRelaxed(ControlLayout.stalledReaderPolicy, limits.stalledReaderPolicy.rawValue)
  }

  /// How the table would be made as it is now: with its limits and rights of this moment. The seed of its hashes is its own.
  public func options() throws(EngineError) -> SegmentOptions {
    let ctl = try requireParticipant().ctl
    let (limits, rights) = (try limits(), try rights())
    var options = SegmentOptions(
      variant: variant, capacityBytes: geometry.capacityBytes, mode: rights.mode, owner: rights.owner,
      group: rights.group,
      limboBudgetBytes: limits.limboBudgetBytes, stalledReaderPolicy: limits.stalledReaderPolicy,
      preallocate: ctl.loadRelaxed(ControlLayout.keepsMemory) != 0,
      hugePages: ctl.loadRelaxed(ControlLayout.wantsHugePages) != 0)
    options.features = features
    return options
  }

  /// Whether the table's two names still lead to it. False after someone outside unlinked or replaced an object:
  /// from then on two processes may use two tables without knowing.
  public var isNamed: Bool {
    guard (try? Segment.isStillNamed(dataObject, ObjectName.data(name))) == true else { return false }
    guard let participant else { return true }
    return (try? Segment.isStillNamed(participant.object, ObjectName.control(name))) == true
  }

  /// How often a dead writer's work was undone or finished since the table was made; nil for observers.
  public var recoveryCount: UInt64? { participant?.ctl.loadRelaxed(ControlLayout.recoveryCount) }

  /// Withdraws what dead threads still announce, so that reclaiming and waiting writers need not come upon it, and
  /// tells who they were. Never waits: one attempt a slot.
  public func clearDeadReaders() throws(EngineError) -> [Holder] { try requireParticipant().slots.clearDead() }
}
