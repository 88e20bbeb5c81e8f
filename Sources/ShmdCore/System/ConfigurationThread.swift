import SharedMemory

/// Reads the configuration on a thread of its own: users and groups may be LDAP's, and a disk may not answer. A thread of Swift's pool, which has
/// one a processor, would be missing to the services meanwhile, and the table thread would not feed the watchdog.
actor ConfigurationThread {
  static let shared = ConfigurationThread()

  private let executor = ThreadExecutor(named: "shmd-config")

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  func read(file: String) throws(Refusal) -> Configuration { try ConfigurationReader.read(file: file) }
}
