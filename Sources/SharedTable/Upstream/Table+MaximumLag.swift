import SharedMemory

extension Table {
  /// Reads a mirror's snapshot if it is no older than `maximumLag`: what the other store was at one revision, and at most so long ago.
  ///
  /// Otherwise as ``read(timeout:_:)``.
  /// - Throws: `behind` if it is older, never was whole, or is no mirror; what `read` throws.
  @inlinable
  public func read<R: ~Copyable>(
    maximumLag: Duration, timeout: Duration? = nil, _ body: (borrowing ReadView) throws -> R
  ) throws -> R {
    try run(try beginRead(timeout)) { view in
      try checkLag(view, maximumLag)
      return try body(view)
    }
  }

  @usableFromInline
  func checkLag(_ view: borrowing ReadView, _ maximum: Duration) throws(TableError) {
    guard let status = try upstream.status(in: view),
      let lag = status.lag(now: clock.now, monotonic: HostClock.monotonicNanoseconds)
    else {
      throw TableError(
        .behind, table: name, "it mirrors no other store, or was never complete; see 'shmctl upstream status'")
    }
    guard lag <= maximum else {
      let why = status.problem.isEmpty ? "" : " (\(status.problem))"
      throw TableError(
        .behind, table: name,
        "it may be \(lag) behind \(status.address)\(why); allow more, or see to it that shmd reaches that store")
    }
  }
}
