import TableEngine

/// Barriers that mostly do one thing, in which no code runs but this library's.
extension Table {
  /// Runs a barrier of what begins with a key; tried again as ``FullRetry`` says.
  /// - Parameters:
  ///   - key: of a length that keys have.
  ///   - quickly: does the frequent thing, and ends the barrier with it. Returns nil with nothing done where that is not
  ///     what is to be done.
  ///   - generally: what then runs in the barrier.
  @inline(__always)
  func withDirectBarrier<R>(
    below key: UnsafeRawBufferPointer, hash: UInt64, _ timeout: Duration?,
    quickly: (DirectBarrier) throws(TableError) -> R?, generally: (inout Transaction) throws(TableError) -> R
  ) throws(TableError) -> R {
    try retryingWhenFull(nanoseconds(timeout)) { () throws(TableError) in
      let barrier = try unsafe beginDirectBarrier(below: key, hash, timeout)
      do throws(TableError) {
        if let result = try quickly(barrier) { return result }
      } catch {
        segment.abortBarrier()
        throw error
      }
      return try runBarrier(generally)
    }
  }

  @inline(__always)
  private func beginDirectBarrier(
    below key: UnsafeRawBufferPointer, _ hash: UInt64, _ timeout: Duration?
  ) throws(TableError) -> DirectBarrier {
    do throws(EngineError) {
      return try unsafe segment.beginDirectBarrier(
        below: key, hash: hash, timeoutNanoseconds: nanoseconds(timeout)
      ) { clock }
    } catch {
      throw named(error)
    }
  }

  /// What a barrier sees under a key of which the caller knows the hash; nil if absent or expired.
  @inline(__always)
  func find(_ key: UnsafeRawBufferPointer, hash: UInt64, in barrier: DirectBarrier) -> FoundEntry? {
    unsafe segment.find(key, hash: hash, in: barrier) { clock }
  }

  /// Stores a value that does not expire in place of the key's, if that is there and has not expired, and commits.
  /// - Parameter hash: the key's.
  /// - Returns: false with nothing done, and the barrier open, if it is not.
  @inline(__always)
  func replace(
    _ key: UnsafeRawBufferPointer, hash: UInt64, _ bytes: UnsafeRawBufferPointer, _ form: StoredForm,
    committing barrier: DirectBarrier
  ) throws(TableError) -> Bool {
    do throws(EngineError) {
      return form.isPlain
        ? try unsafe segment.replace(key, hash: hash, bytes, type: form.type.rawValue, committing: barrier) { clock }
        : try unsafe segment.replace(key, hash: hash, bytes, form.attributes(expiry: 0), committing: barrier) { clock }
    } catch {
      throw named(error)
    }
  }

  /// As ``find(_:hash:in:)``, for a value of which a new one is to be made.
  @inline(__always)
  func locate(_ key: UnsafeRawBufferPointer, hash: UInt64, in barrier: DirectBarrier) -> LocatedEntry? {
    unsafe segment.locate(key, hash: hash, in: barrier) { clock }
  }

  /// Stores a value in place of one that was located, with what is stored beside it, and commits.
  /// - Parameter write: puts its bytes where they are to lie, all of them.
  @inline(__always)
  func replace(
    _ old: LocatedEntry, byteCount: Int, committing barrier: DirectBarrier,
    _ write: (UnsafeMutableRawPointer) -> Void
  ) throws(TableError) {
    do throws(EngineError) {
      try unsafe segment.replace(old, valueLength: byteCount, committing: barrier, write)
    } catch {
      throw named(error)
    }
  }
}
