import CShims
import Glibc
import SharedMemory

/// How a process wants to take part.
public enum AccessRequest: Sendable, Equatable {
  /// Participant where the rights, the owner and the PID namespace allow it, else observer.
  case automatic
  case participant
  case observer
}
