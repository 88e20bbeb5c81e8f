import CShims

/// Who a thread is, as it is written into shared memory for people to read and for others to check.
///
/// Never cached here: after a fork the answers are others.
public enum ProcessIdentity {
  public static var pid: Int32 { shmos_pid() }
  /// The kernel's number of this thread: what a robust mutex holds while this thread owns it.
  public static var tid: Int32 { shmos_tid() }

  /// When a process began, in clock ticks since boot. A pid together with it names a process for the host's whole
  /// uptime. `ENOENT`: no such process, or /proc hides it from us.
  public static func startTime(of pid: Int32) throws(SystemError) -> UInt64 {
    var ticks: UInt64 = 0
    try check("/proc/PID/stat", unsafe shmos_process_start_time(pid, &ticks))
    return ticks
  }

  /// Inode of this process's PID namespace: processes with different ones cannot share a robust mutex.
  public static func pidNamespace() throws(SystemError) -> UInt64 {
    var inode: UInt64 = 0
    try check("stat /proc/self/ns/pid", unsafe shmos_pid_namespace(&inode))
    return inode
  }

  /// Whether a process has this number, also one that we may not signal. Numbers are reused and zombies count:
  /// compare `startTime` where it matters, and trust a robust mutex rather than either.
  public static func isAlive(pid: Int32) -> Bool { shmos_process_is_alive(pid) }

  /// This process's command name, at most 15 bytes, as it is stored.
  public static var commandName: CommandName {
    var name = CommandName(words: (0, 0))
    unsafe withUnsafeMutableBytes(of: &name.words) { unsafe shmos_command_name($0.baseAddress!) }
    return name
  }

  /// Another process's command name, for people; nil if there is no such process or /proc hides it from us.
  public static func commandName(of pid: Int32) -> String? {
    var name = CommandName(words: (0, 0))
    let r = unsafe withUnsafeMutableBytes(of: &name.words) {
      unsafe shmos_command_name_of(pid, $0.baseAddress!)
    }
    return r < 0 ? nil : name.description
  }
}
