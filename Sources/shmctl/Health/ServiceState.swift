import Glibc

/// What systemd says of the daemon's unit.
enum ServiceState {
  private static let program = "/usr/bin/systemctl"

  /// `active`, `failed`, …; nil where systemd does not run.
  static func ofDaemon() -> String? {
    guard SystemFile.exists("/run/systemd/system") else { return nil }
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    guard let child = start(["is-failed", "shmd.service"], output: ends[1]) else { return nil }
    defer { while waitpid(child, nil, 0) < 0 && errno == EINTR {} }
    guard let bytes = try? Descriptor.readAll(ends[0], limit: 4096) else { return nil }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
  }

  /// Starts it, with `output` as its standard output; closes that here.
  private static func start(_ arguments: [String], output: Int32) -> pid_t? {
    defer { close(output) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var words = unsafe ([program] + arguments).map { unsafe strdup($0) }
    unsafe words.append(nil)
    defer { unsafe words.forEach { word in unsafe free(word) } }
    var child: pid_t = 0
    return unsafe posix_spawn(&child, program, &actions, nil, words, environ) == 0 ? child : nil
  }
}
