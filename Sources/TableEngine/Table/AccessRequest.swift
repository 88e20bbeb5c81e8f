import CShims
import Glibc
import SharedMemory

/// How a process wants to take part.
public enum AccessRequest: Sendable, Equatable {
  /// Participant where the rights, the owner and the PID namespace allow it, else observer.
  case automatic
  /// Participant, who reads and writes, or an error: `notPermitted`, `foreign`.
  case participant
  /// Observer: who only reads, and announces nothing that others could wait for.
  case observer
}
