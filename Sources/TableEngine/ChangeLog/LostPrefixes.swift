import CShims

/// Of which keys the change log has lost records, as far as keys can be told apart by a few of their first bytes.
///
/// For each of ``lengths`` there is a row of words. A record that is pushed out leaves its version in one word of each row: the one
/// that the hash of so many first bytes of its key names. So of all keys that begin with a prefix nothing newer than a version was
/// lost if a word of the prefix is not above that version: one row that says so is enough, as in a Bloom filter (Bloom, CACM 1970).
/// Words only grow, but for a repair. What they say too much makes a reader look at the table without need, and no more.
struct LostPrefixes {
  let data: Memory

  private static let lengths = [3, 7]
  private static let rowBytes = 8 << DataLayout.lostPrefixHashBits

  /// The word of a key's first bytes, of which the last ones are in the highest bits of `bytes`.
  @inline(__always)
  private static func word(_ row: Int, _ bytes: UInt64) -> Int {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4).
    let hash = (bytes &* 0x9e37_79b9_7f4a_7c15) >> UInt64(64 &- DataLayout.lostPrefixHashBits)
    return DataLayout.lostPrefixes &+ row &* rowBytes &+ Int(truncatingIfNeeded: hash) &* 8
  }

  /// Notes that the record is lost. By the owner of W, before the tail passes it.
  ///
  /// A record has at least eight bytes for its key. Those behind a shorter key name words of no prefix that the key begins with.
  @inline(__always)
  func note(recordAt place: Int) {
    let version = data.loadRelaxed(place &+ ChangeLog.version)
    let key = data.loadRelaxed(place &+ ChangeLog.headerBytes)
    data.storeRelaxed(Self.word(0, key &<< 40), version)
    data.storeRelaxed(Self.word(1, key &<< 8), version)
  }

  /// Notes that of every key something may be lost, up to a version.
  func noteAll(_ version: UInt64) {
    for word in 0..<Self.lengths.count << DataLayout.lostPrefixHashBits {
      data.storeRelaxed(DataLayout.lostPrefixes + word * 8, version)
    }
  }

  /// Whether a record that is newer than a version, and of a key that begins with these bytes, may have been lost. Always yes for
  /// a prefix that is shorter than all of ``lengths``.
  ///
  /// Asked after the tail was found behind the records in question.
  /// PAIR lost-prefix. Other end: ChangeLog.pushOut. The tail was loaded by an acquire, so what was noted before it was stored is seen.
  func mayInclude(_ prefix: UnsafeRawBufferPointer, after version: UInt64) -> Bool {
    Self.lengths.indices.allSatisfy { row in
      let length = Self.lengths[row]
      if prefix.count < length { return true }
      let bytes = unsafe prefix[..<length].reversed().reduce(0) { $0 << 8 | UInt64($1) }
      return data.loadRelaxed(Self.word(row, bytes << UInt64(64 - 8 * length))) > version
    }
  }
}

extension Segment {
  /// Whether the change log may have lost a record that is newer than a version, and of a key that begins with `prefix`. Never no if
  /// one was lost before the caller's last ``readChanges(_:limit:where:)``.
  ///
  /// Never blocks. What an observer is told is only as good as whoever may write the table (G8).
  public func mayHaveLostChanges(of prefix: UnsafeRawBufferPointer, after version: UInt64) -> Bool {
    unsafe LostPrefixes(data: data).mayInclude(prefix, after: version)
  }
}
