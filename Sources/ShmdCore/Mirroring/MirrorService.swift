import ServiceLifecycle

/// Ends the mirrors when the daemon stops. The table keeper begins them.
struct MirrorService: Service {
  let mirrors: Mirrors

  func run() async throws {
    try? await gracefulShutdown()
    await mirrors.stop()
  }
}
