import TableEngine

extension Table {
  /// Copies the values of many keys of one length, all of one snapshot (G1), whatever their types: several times as
  /// fast as one get each where the table does not fit into the cache, since their cache misses overlap.
  ///
  /// RCU variant: never waits. rwlock variant: waits for the barrier that runs, at most the table's timeout.
  /// - Parameters:
  ///   - keys: one behind the other.
  ///   - keyLength: of each, 1 to 65,536 bytes.
  ///   - buffer: the value of key *i* goes to byte `i * stride`, if it is no longer than `stride`; room for all.
  ///   - stride: from one value's place to the next, in bytes.
  ///   - lengths: becomes each value's length in bytes, -1 where the key is absent or expired; one for each key.
  /// - Throws: what ``get(_:into:)`` throws; `invalid` if the sizes do not fit each other.
  public func get(
    keys: UnsafeRawBufferPointer, keyLength: Int, into buffer: UnsafeMutableRawBufferPointer, stride: Int,
    lengths: UnsafeMutableBufferPointer<Int>
  ) throws(TableError) {
    let count = lengths.count
    guard keyLength > 0, stride > 0, let keyBytes = Self.product(count, keyLength), keys.count == keyBytes,
      let valueBytes = Self.product(count, stride), buffer.count >= valueBytes
    else {
      throw TableError(
        .invalid, table: name,
        "keys, buffer and lengths do not fit each other: each of the \(count) lengths needs \(keyLength) bytes of the keys and "
          + "\(stride) bytes of the buffer, both 1 at least")
    }
    guard count > 0, let first = keys.baseAddress, let target = buffer.baseAddress, let sums = lengths.baseAddress
    else { return }
    guard Self.keyLengths ~= keyLength else { throw named(.keyLength(keyLength)) }
    if count <= Segment.batchCount,
      unsafe segment.copyManyQuickly(
        first, keyLength: keyLength, count: count, to: target, stride: stride, lengths: sums, clock)
    {
      return
    }
    try withSection(timeout: nil) { view throws(TableError) in
      for start in Swift.stride(from: 0, to: count, by: Segment.batchCount) {
        let now = min(Segment.batchCount, count - start)
        try unsafe view.copy(
          first + start * keyLength, keyLength, now, to: target + start * stride, stride, lengths: sums + start)
      }
    }
  }

  /// Nil if that is no `Int`: the factors are the caller's.
  private static func product(_ count: Int, _ length: Int) -> Int? {
    let (product, overflow) = count.multipliedReportingOverflow(by: length)
    return overflow ? nil : product
  }
}

extension ReadView {
  /// One batch at the view's snapshot. An observer, whose lookups copy and check anyway, takes them one by one.
  fileprivate func copy(
    _ keys: UnsafeRawPointer, _ keyLength: Int, _ count: Int, to target: UnsafeMutableRawPointer, _ stride: Int,
    lengths: UnsafeMutablePointer<Int>
  ) throws(TableError) {
    if !table.isObserver {
      return unsafe table.segment.copyMany(
        keys, keyLength: keyLength, count: count, to: target, stride: stride, lengths: lengths, section, table.clock)
    }
    for index in 0..<count {
      let key = unsafe UnsafeRawBufferPointer(start: keys + index * keyLength, count: keyLength)
      guard let value = try unsafe find(RawKey(key))?.value else {
        unsafe lengths[index] = -1
        continue
      }
      if value.count <= stride, let source = value.baseAddress {
        unsafe (target + index * stride).copyMemory(from: source, byteCount: value.count)
      }
      unsafe lengths[index] = value.count
    }
  }
}
