/// Where the rwlock variant's state lies in *ctl*, by cache lines.
package enum RWLayout {
  static let generation = ControlLayout.rwState
  /// Slot + 1 of the writer that waits or writes; 0 = none.
  package static let writerWaiting = ControlLayout.rwState + 64
  /// 1 if some reader may wait: the writer looks at the stamps.
  package static let hint = ControlLayout.rwState + 72
  /// Newest generation whose instance a dead thread may hold, plus 1.
  static let abandoned = ControlLayout.rwState + 80
  /// Newest generation for which no living reader was inside an older one.
  static let drained = ControlLayout.rwState + 88
  static let sleepers = ControlLayout.rwState + 128
  static let event = ControlLayout.rwState + 136
}
