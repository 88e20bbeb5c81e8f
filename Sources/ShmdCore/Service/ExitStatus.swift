/// How the daemon ends; numbers of sysexits.h, which systemd shows by name.
public enum ExitStatus: Int32, Sendable {
  /// Stopped as told, or a check found nothing wrong.
  case success = 0
  /// The host does not play along: no room, no rights, no lock file.
  case failure = 1
  /// The command line. (Given by the argument parser.)
  case usage = 64
  /// Another daemon holds the lock of this runtime directory, or the users and groups of the configuration cannot be looked up just now.
  case temporary = 75
  /// The configuration is refused; nothing was changed.
  case badConfiguration = 78
}
