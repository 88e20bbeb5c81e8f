import Glibc
import SharedMemory

/// Who holds what another waits for, as far as shared memory tells. For people; never decides anything.
public struct Holder: Sendable, Equatable {
  /// The process.
  public let pid: Int32
  /// The thread, by the system's number.
  public let tid: Int32
  /// What the system calls the process.
  public let command: String
  /// How long it has held, in nanoseconds; nil if that is not known.
  public let heldNanoseconds: UInt64?
  /// Of the queue whose barrier it is; nil if it is none's, or the queue has none.
  public let label: String?

  public init(pid: Int32, tid: Int32, command: String, heldNanoseconds: UInt64?, label: String? = nil) {
    self.pid = pid
    self.tid = tid
    self.command = command
    self.heldNanoseconds = heldNanoseconds
    self.label = label
  }
}
