import CShims

/// Of which keys the change log has lost records, as far as keys can be told apart by a few of their first bytes.
///
/// For each ``length(_:)`` there is a row of words. A record that is pushed out leaves its version in one word of each row: the one
/// that the hash of so many first bytes of its key names. So of all keys that begin with a prefix nothing newer than a version was
/// lost if a word of the prefix is not above that version: one row that says so is enough, as in a Bloom filter (Bloom, CACM 1970).
/// Words only grow, but for a repair. What they say too much makes a reader look at the table without need, and no more.
struct LostPrefixes {
  let data: MappedMemory

  private static let rowBytes = 8 << DataLayout.lostPrefixHashBits

  /// By how many first bytes of its key a row tells a record.
  @inline(__always)
  private static func length(_ row: Int) -> Int { row == 0 ? 3 : 7 }

  /// - Parameter key: its first eight bytes; of them the row's first ones are looked at.
  @inline(__always)
  private static func word(_ row: Int, _ key: UInt64) -> Int {
    // Fibonacci hashing (Knuth, TAOCP 3, 6.4) of the bytes that stay.
    let hash =
      ((key &<< UInt64(64 &- 8 &* length(row))) &* 0x9e37_79b9_7f4a_7c15) >> UInt64(64 &- DataLayout.lostPrefixHashBits)
    return DataLayout.lostPrefixes &+ row &* rowBytes &+ Int(truncatingIfNeeded: hash) &* 8
  }

  /// Notes that the record is lost. By the owner of W, before the tail passes it.
  ///
  /// A record has at least eight bytes for its key. Those behind a shorter key name words of no prefix that the key begins with.
  @inline(__always)
  func note(recordAt place: Int) {
    let version = data.loadRelaxed(place &+ ChangeLog.version)
    let key = data.loadRelaxed(place &+ ChangeLog.headerBytes)
    data.storeRelaxed(Self.word(0, key), version)
    data.storeRelaxed(Self.word(1, key), version)
  }

  /// Notes that of every key something may be lost, up to a version.
  func noteAll(_ version: UInt64) {
    for word in 0..<DataLayout.lostPrefixLengths << DataLayout.lostPrefixHashBits {
      data.storeRelaxed(DataLayout.lostPrefixes + word * 8, version)
    }
  }

  /// Whether a record that is newer than a version, and of a key that begins with these bytes, may have been lost. Always yes for
  /// a prefix that is shorter than each ``length(_:)``.
  ///
  /// Asked after the tail was found behind the records in question.
  /// PAIR lost-prefix. Other end: ChangeLog.pushOut. The tail was loaded by an acquire, so what was noted before it was stored is seen.
  func mayInclude(_ prefix: [UInt8], after version: UInt64) -> Bool {
    let key = prefix.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    return (0..<DataLayout.lostPrefixLengths).allSatisfy { row in
      prefix.count < Self.length(row) || data.loadRelaxed(Self.word(row, key)) > version
    }
  }
}

extension Segment {
  /// Whether the change log may have lost a record that is newer than a version, and of a key that begins with `prefix`. Never no if
  /// one was lost before the caller's last ``readChanges(_:limit:where:)``.
  ///
  /// Never blocks. An observer relies for this on every process that may write the table: such a process can hide a loss from it (G8).
  public func mayHaveLostChanges(of prefix: [UInt8], after version: UInt64) -> Bool {
    LostPrefixes(data: data).mayInclude(prefix, after: version)
  }
}
