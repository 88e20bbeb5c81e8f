import SharedMemory
import TableEngine

extension Table {
  /// Waits until `predicate` is true of a key's value, and returns that value; nil stands for an absent or expired one.
  ///
  /// Looks at once, then after each commit, by whatever process, and when the value expires. A value that lasts shorter
  /// than until the next look may be missed: the predicate is about a state, not about events.
  ///
  /// Blocks the calling thread; `predicate` runs on it, outside of any section.
  /// - Parameters:
  ///   - timeout: for all of it; nil = the table's.
  ///   - key: the element's.
  ///   - predicate: says whether the value is what one waits for.
  ///   - type: of the value.
  /// - Throws: what `predicate` throws; `timedOut`; `typeMismatch`; `wouldDeadlock` inside a section of this table on this
  ///   thread; `unlinked` within a tenth of a second after the table was dropped; `forked`; what a `get` throws.
  @available(*, noasync, message: "blocks the thread; use the form that is awaited")
  public func waitUntil<T: TableValue>(
    _ key: some TableKey, as type: T.Type = T.self, timeout: Duration? = nil, _ predicate: (T?) throws -> Bool
  ) throws -> T? {
    let deadline = Deadline(nanoseconds(timeout))
    do throws(EngineError) {
      // Says at once that it would wait for its own thread.
      _ = try segment.waitForCommit(after: 0, timeoutNanoseconds: 0)
    } catch {
      throw named(error)
    }
    while true {
      let version = segment.committed
      let look = try look(key, as: type, timeoutNanoseconds: deadline.leftNanoseconds)
      if try predicate(look.value) { return look.value }
      guard !deadline.isPast else { throw tooLate(key) }
      do throws(EngineError) {
        _ = try segment.waitForCommit(
          after: version, timeoutNanoseconds: min(deadline.leftNanoseconds, look.lastsNanoseconds))
      } catch {
        throw named(error)
      }
    }
  }

  /// The same for asynchronous code: suspends, and blocks no thread. Where a `get` would have to wait for a barrier
  /// (rwlock variant), it looks again when that is over.
  /// - Throws: also `CancellationError`, promptly, when the task is cancelled.
  public func waitUntil<T: TableValue>(
    _ key: some TableKey, as type: T.Type = T.self, timeout: Duration? = nil,
    isolation: isolated (any Actor)? = #isolation, _ predicate: (T?) throws -> Bool
  ) async throws -> T? {
    let deadline = Deadline(nanoseconds(timeout))
    let watch = try Watch(self)
    while true {
      try Task.checkCancellation()
      let version = segment.committed
      var look: Look<T>?
      do throws(TableError) {
        look = try self.look(key, as: type, timeoutNanoseconds: 0)
      } catch {
        // A barrier runs, which moves the version when it ends; or one waits for readers, which may give up.
        guard error.code == .timedOut || error.code == .busy else { throw error }
      }
      if let look, try predicate(look.value) { return look.value }
      let lasts = look?.lastsNanoseconds ?? 10_000_000
      guard !deadline.isPast else { throw tooLate(key) }
      try await watch.waitForCommit(after: version, deadline: deadline.instant(within: lasts), isolation: isolation)
    }
  }
}

/// What a look at a key found, and for how long that is so if nobody writes.
private struct Look<T> {
  var value: T?
  var lastsNanoseconds = UInt64.max
}

extension Table {
  private func look<T: TableValue>(
    _ key: some TableKey, as type: T.Type, timeoutNanoseconds: UInt64
  ) throws(TableError) -> Look<T> {
    let found: (Result<T, ValueMismatch>, UInt64)?
    do throws(EngineError) {
      found = try unsafe key.withKeyBytes { bytes throws(EngineError) -> (Result<T, ValueMismatch>, UInt64)? in
        guard let start = bytes.baseAddress else { throw EngineError.keyLength(0) }
        return try unsafe segment.withValue(
          start, bytes.count, timeoutNanoseconds: timeoutNanoseconds, clock: clock
        ) { found in (decode(found, as: type), found.expiry) }
      }
    } catch {
      throw named(error)
    }
    guard let (outcome, expiry) = found else { return Look() }
    let value = try checked(.some(outcome), key)
    let now = clock.now
    return Look(value: value, lastsNanoseconds: expiry == 0 ? .max : expiry > now ? expiry - now : 0)
  }

  private func tooLate(_ key: some TableKey) -> TableError {
    let shown = unsafe key.withKeyBytes { bytes in unsafe String(decoding: bytes.prefix(64), as: UTF8.self) }
    return TableError(
      .timedOut, table: name,
      "the value of '\(shown)' did not become what was waited for; allow more time, or look whether its writer lives")
  }
}
