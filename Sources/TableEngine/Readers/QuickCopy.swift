public import CShims

/// The results of a quick copy that are not a length.
public enum QuickCopy {
  /// The key is absent.
  public static let absent = -1
  /// A case that is left to ``Segment/withValue(_:_:timeoutNanoseconds:clock:_:)``.
  public static let undecided = -2
}

extension Segment {
  /// Copies a key's newest committed value: the read at memory speed, in the most frequent case.
  ///
  /// That case is: the thread is in no section and has used the table before; the key is in its home bucket, first of
  /// its tag; it has no expiry, fingerprint or padding, and no newer version in flight. In any other case the general
  /// read looks a second time. The reason for a path of its own: a processor overlaps the cache misses of consecutive
  /// reads as far as its window reaches (448 instructions on Zen 5). A straight path of half the length reads a table
  /// that does not fit into the cache at almost twice the rate.
  /// - Returns: the value's length (greater than `capacity`: nothing was copied), `absent` or `undecided`.
  @inlinable @inline(__always)
  public func copyQuickly(
    _ key: UnsafeRawPointer, _ keyLength: Int, to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    readsLightly
      ? unsafe copyDirectly(key, keyLength, type: nil, to: target, capacity, fenced: false)
      : unsafe copyForOtherReader(key, keyLength, type: nil, to: target, capacity)
  }

  /// A participant's copy in the RCU variant.
  @inlinable @inline(__always)
  func copyDirectly(
    _ key: UnsafeRawPointer, _ keyLength: Int, type: UInt8?, to target: UnsafeMutableRawPointer, _ capacity: Int,
    fenced: Bool
  ) -> Int {
    guard let slot = unsafe quickSlot(keyLength) else { return QuickCopy.undecided }
    let hash = unsafe shm_hash(key, keyLength, hashSeed)
    let snapshot = unsafe announce(slot, fenced: fenced)
    let length = unsafe copyAnnounced(
      key, keyLength, hash: hash, snapshot: snapshot, type: type, to: target, capacity)
    // PAIR slot-scan. Other end: ReaderScan.take. Release: the copy comes before, or a free pass could reuse what is being copied.
    unsafe shm_store_release(slot, SlotWord.idle)
    return length
  }

  /// This thread's slot as a participant's, if it is in no section of this table, its record is where it is sought
  /// first, and the key has a length that keys have.
  @inlinable @inline(__always)
  func quickSlot(_ keyLength: Int) -> UnsafeMutableRawPointer? {
    guard Entry.isKeyLength(keyLength), let record = unsafe quickRecord() else { return nil }
    return unsafe shm_thread_slot(record)
  }

  /// This thread's record, if it is where it is sought first, and the thread in no section and no barrier of this table.
  @inlinable @inline(__always)
  func quickRecord() -> UnsafeMutablePointer<shm_thread_record>? {
    let record = unsafe shm_thread_home(id)
    guard unsafe record.pointee.segment == id, unsafe shm_thread_is_outside(record) else { return nil }
    return unsafe record
  }

  /// Between the announcement and its end. The pairs are those of ``Lookup``.
  @inlinable @inline(__always)
  func copyAnnounced(
    _ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, snapshot: UInt64, type: UInt8?,
    to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    let entry = candidate(hash: hash)
    if entry < 0 { return entry }
    return unsafe copyPlain(key, keyLength, entry: entry, snapshot: snapshot, type: type, to: target, capacity)
  }

  /// Where the first entry of the hash's tag in its home bucket is, if any; `absent` or `undecided`.
  @inlinable @inline(__always)
  func candidate(hash: UInt64) -> Int {
    let directory = Lookup(data: data).directoryWord(hash: hash).word
    let bucket = SubTable.bucket(directory.offset, hash: hash, step: 0)
    let place = unsafe shm_first_tag(data.pointer(bucket), BucketWord.tag(hash: hash))
    if place < 0 {
      return unsafe shm_first_tag(data.pointer(bucket), 0) >= 0 ? QuickCopy.absent : QuickCopy.undecided
    }
    let entry = BucketWord.offset(data.loadAcquire(bucket &+ place))
    // How far the value reaches is known only when the entry's first line has come: fetch what is next meanwhile.
    unsafe shm_prefetch(data.pointer(entry &+ 64))
    unsafe shm_prefetch(data.pointer(entry &+ 128))
    return entry
  }

  /// The value of `entry`, if that is the key's, plain, of this type (nil: of any), and not newer than the snapshot.
  /// - Returns: its length, or `undecided`.
  @inlinable @inline(__always)
  func copyPlain(
    _ key: UnsafeRawPointer, _ keyLength: Int, entry: Int, snapshot: UInt64, type: UInt8? = nil,
    to target: UnsafeMutableRawPointer, _ capacity: Int
  ) -> Int {
    guard let value = unsafe plainValue(key, keyLength, entry: entry, snapshot: snapshot, type: type) else {
      return QuickCopy.undecided
    }
    if value.count <= capacity, let source = value.baseAddress { unsafe shm_copy(target, source, value.count) }
    return value.count
  }

  /// The value of `entry` in place, if that is the key's, plain, of this type (nil: of any), and not newer than the
  /// snapshot. `entry` may be 0, for none, without a test of its own: at offset 0 lies the magic number, which as a
  /// version is above every snapshot.
  @inlinable @inline(__always)
  func plainValue(
    _ key: UnsafeRawPointer, _ keyLength: Int, entry: Int, snapshot: UInt64, type: UInt8?
  ) -> UnsafeRawBufferPointer? {
    guard EntryKind(raw: data.loadRelaxedHalf(entry &+ Entry.kind)).isPlain(keyLength: keyLength, type: type),
      data.loadRelaxed(entry &+ Entry.version) <= snapshot,
      unsafe shm_equal(data.pointer(entry &+ Entry.headerBytes), key, keyLength)
    else { return nil }
    return unsafe UnsafeRawBufferPointer(
      start: data.pointer(entry &+ Entry.headerBytes &+ keyLength),
      count: Int(data.loadRelaxedHalf(entry &+ Entry.valueLength)))
  }
}
