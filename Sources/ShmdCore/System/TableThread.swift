import SharedMemory

/// The one thread on which the daemon looks after tables.
enum TableThread {
  static let shared = ThreadExecutor(named: "shmd-tables")
}
