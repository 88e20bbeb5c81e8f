import SharedMemory
import TableEngine

/// What a look at a key found, and for how long that is so if nobody writes.
struct VersionedValue<T: TableValue> {
  /// Nil if absent or expired, and where the version is the one that the look was told of.
  var value: T?
  /// The version of the barrier that stored the value; 0, which no barrier has, if it is absent or expired.
  var version: UInt64 = 0
  /// How long the reader that waits for a change sleeps at most before it looks again, if no writer wakes it.
  var lastsNanoseconds = UInt64.max
}

extension Table {
  /// Looks at a key's newest committed value.
  ///
  /// Who waits for what a look will find loads `committed` first, and then waits for a commit above that: what is committed
  /// after the look ends the wait.
  /// - Parameter known: the version of a value that is not wanted once more, and is not copied.
  func look<T: TableValue>(
    _ key: some TableKey, as type: T.Type, unless known: UInt64? = nil, timeoutNanoseconds: UInt64
  ) throws(TableError) -> VersionedValue<T> {
    let found = try withEntry(key, timeoutNanoseconds: timeoutNanoseconds) { found in
      (outcome: found.version == known ? nil : decode(found, as: type), version: found.version, expiry: found.expiry)
    }
    guard let (outcome, version, expiry) = found else { return VersionedValue() }
    let value = try checked(outcome, key)
    let lasts = NextLook.nanoseconds(untilExpiry: expiry, now: clock.now)
    return VersionedValue(value: value, version: version, lastsNanoseconds: lasts)
  }

  /// As ``look(_:as:unless:timeoutNanoseconds:)``, where no thread may be blocked.
  /// - Returns: nil if a barrier is in the way (rwlock variant), or an observer found no moment without a writer.
  func lookAtOnce<T: TableValue>(
    _ key: some TableKey, as type: T.Type, unless known: UInt64? = nil
  ) throws(TableError) -> VersionedValue<T>? {
    do throws(TableError) {
      return try look(key, as: type, unless: known, timeoutNanoseconds: 0)
    } catch {
      guard error.isOfLookThatWouldWait else { throw error }
      return nil
    }
  }
}

extension TableError {
  /// What a look throws that may not wait, if it would have to: for a barrier of the rwlock variant, or, by an observer, for a moment without
  /// a writer.
  var isOfLookThatWouldWait: Bool { code == .timedOut || code == .busy }
}
