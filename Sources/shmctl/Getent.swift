import Glibc

/// The host's databases of users and groups (files, systemd, sssd, LDAP), by getent(1).
///
/// Not by `getgrnam` and its like: they load the host's NSS modules into the process, which a static program can do only
/// where its C library is the host's to the very release.
enum Getent {
  private static let program = "/usr/bin/getent"
  /// A large group's members come with it.
  private static let longestEntry = 1 << 20

  /// The fields of the entry of this key; nil if there is none, or no getent.
  static func fields(of key: String, in database: String) throws -> [Substring]? {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    guard let child = start(["--", database, key], output: ends[1]) else { return nil }
    defer { while waitpid(child, nil, 0) < 0 && errno == EINTR {} }
    let entry = String(decoding: try Descriptor.readAll(ends[0], limit: longestEntry), as: UTF8.self)
    guard let line = entry.split(separator: "\n").first else { return nil }
    return line.split(separator: ":", omittingEmptySubsequences: false)
  }

  /// Starts it, with `output` as its standard output; closes that here.
  private static func start(_ arguments: [String], output: Int32) -> pid_t? {
    defer { close(output) }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    var words = unsafe ([program] + arguments).map { unsafe strdup($0) }
    unsafe words.append(nil)
    defer { unsafe words.forEach { word in unsafe free(word) } }
    var child: pid_t = 0
    return unsafe posix_spawn(&child, program, &actions, nil, words, environ) == 0 ? child : nil
  }
}
