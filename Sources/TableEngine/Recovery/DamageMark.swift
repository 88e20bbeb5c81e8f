/// The mark of a table in which something was found that no crash can have left: its words are not to be believed, no barrier runs, and only a
/// repair may change it. Recovery sets it, and a repair for as long as it works; both own W.
struct DamageMark {
  let ctl: MappedMemory

  /// Not 0 if the table is marked. For an owner of W, which looks at it together with other words, and for figures: relaxed, since W orders the
  /// load after the store of the process that set it.
  @inline(__always)
  var word: UInt64 { ctl.loadRelaxed(ControlLayout.damaged) }

  /// Whether the table is marked, for the same callers.
  var isSet: Bool { word != 0 }

  /// Whether the table is marked, for a reader of the rwlock variant that waits and does not own W: acquire, since nothing else orders it after the
  /// store.
  var isSetAsReadersSee: Bool { ctl.loadAcquire(ControlLayout.damaged) != 0 }

  /// By an owner of W. Release: a reader that finds the table marked also finds what was done before.
  func set() { ctl.storeRelease(ControlLayout.damaged, 1) }

  /// By an owner of W whose repair succeeded. Also by one whose repair was kept from its end while writers could go on all the same
  /// (``Repairer``): then the table is damaged still, what was given up keeps its memory, and only the next repair ends that. Release: a reader that
  /// finds no mark also finds what was changed.
  func clear() { ctl.storeRelease(ControlLayout.damaged, 0) }

  /// By an owner of W.
  func check() throws(EngineError) {
    if isSet { throw Self.refusal }
  }

  /// Why a process may not use a marked table.
  static var refusal: EngineError { .damaged("it was marked damaged") }
}
