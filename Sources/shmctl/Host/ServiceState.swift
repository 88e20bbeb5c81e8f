import SharedMemory

/// What systemd says of the daemon's unit.
enum ServiceState {
  private static let tool = HostTool("/usr/bin/systemctl", longest: 4096, silent: true)

  /// `active`, `failed`, …; nil where systemd does not run.
  static func ofDaemon() -> String? {
    guard HostFile.exists("/run/systemd/system") else { return nil }
    return try? tool.firstLine(["is-failed", "shmd.service"])
  }
}
