import CShims
public import SharedTable
import TableEngine

extension Table {
  /// Whether somebody who takes part has waited for a commit since the last one.
  public var isAwaited: Bool {
    segment.controlMemory!.loadAcquire(ControlLayout.awaitedVersion) == version + 1
  }
}
