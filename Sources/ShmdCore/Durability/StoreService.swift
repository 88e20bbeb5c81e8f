import ServiceLifecycle

/// Stores what is left of durable tables when the daemon stops. While it runs, each store's keeper has a thread of its own.
struct StoreService: Service {
  let stores: Stores

  func run() async throws {
    try? await gracefulShutdown()
    await stores.stop()
  }
}
