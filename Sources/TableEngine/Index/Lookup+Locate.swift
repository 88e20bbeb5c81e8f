import CShims

extension Lookup {
  /// The writer's search: goes on to the end of the key's window, so that a key that lies behind a deleted word is
  /// not inserted twice. Under W.
  /// - Parameter isPlain: whether what is sought has likely neither expiry nor fingerprint.
  @inline(__always)
  func locate(_ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, isPlain: Bool = true) -> Location {
    let directory = directoryWord(hash: hash).word
    var location = Location(subTable: directory.offset, deep: directory.isDeep)
    let home = SubTable.bucket(directory.offset, hash: hash, step: 0)
    let tag = BucketWord.tag(hash: hash)
    if unsafe matchWord(key, keyLength, tag: tag, bucket: home, isPlain: isPlain, &location) { return location }
    return unsafe locateFurther(key, keyLength, hash: hash, location)
  }

  /// The search for a key that its home bucket does not hold; it begins there, for a vacant word.
  @inline(never)
  private func locateFurther(
    _ key: UnsafeRawPointer, _ keyLength: Int, hash: UInt64, _ home: Location
  ) -> Location {
    var location = home
    let tag = BucketWord.tag(hash: hash)
    let steps = location.deep ? SubTable.bucketCount : SubTable.window
    var isHome = true
    while true {
      for step in 0..<steps {
        let bucket = SubTable.bucket(location.subTable, hash: hash, step: step)
        if !isHome, unsafe matchWord(key, keyLength, tag: tag, bucket: bucket, &location) { return location }
        isHome = false
        let empty = unsafe shm_match_tag(data.pointer(bucket), 0)
        if location.place == 0 {
          let vacant = unsafe empty | shm_match_tag(data.pointer(bucket), 1)
          if vacant != 0 {
            location.place = bucket + vacant.trailingZeroBitCount * 8
            location.word = data.loadRelaxed(location.place)
          }
        }
        if empty != 0 { return location }
      }
      guard location.deep else { return location }
      let next = Int(data.loadRelaxed(location.subTable + SubTable.link))
      if next == 0 { return location }
      location.subTable = next
    }
  }

  /// The place of the bucket word that names this entry, if the hint is right; else nil. The entry's block is in use. Under W.
  ///
  /// The index has one word at most for an entry. The hint is looked up in the sub-table that the directory names now. A sub-table that a split or a
  /// merge has replaced still names the entry, but no reader comes there any more.
  @inline(__always)
  func word(of entry: Int, at hint: TombstoneHint) -> Int? {
    let place = directoryWord(hash: hint.hash).word.offset &+ hint.offset
    return BucketWord.offset(data.loadRelaxed(place)) == entry ? place : nil
  }

  @inline(__always)
  private func matchWord(
    _ key: UnsafeRawPointer, _ keyLength: Int, tag: UInt32, bucket: Int, isPlain: Bool = true,
    _ location: inout Location
  ) -> Bool {
    var candidates = unsafe shm_match_tag(data.pointer(bucket), tag)
    while _fastPath(candidates != 0) {
      let offset = bucket &+ candidates.trailingZeroBitCount &* 8
      let word = data.loadRelaxed(offset)
      let entry = BucketWord.offset(word)
      if unsafe isPlain ? isPlainKey(key, keyLength, ofEntry: entry) : keyEquals(key, keyLength, entry: entry) {
        location.place = offset
        location.word = word
        return true
      }
      candidates &= candidates &- 1
    }
    return false
  }

  /// As ``keyEquals(_:_:entry:)``, with the rare case out of line: most values that are written anew have neither expiry nor fingerprint.
  @inline(__always)
  private func isPlainKey(_ key: UnsafeRawPointer, _ keyLength: Int, ofEntry entry: Int) -> Bool {
    let meta = EntryMeta(raw: data.loadRelaxed(entry &+ Entry.meta))
    guard _fastPath(meta.isOfKeyBehindHeader(keyLength)) else {
      return unsafe isKeyFurtherBehind(key, keyLength, ofEntry: entry)
    }
    return unsafe shm_equal(data.pointer(entry &+ Entry.headerBytes), key, keyLength)
  }

  @inline(never)
  private func isKeyFurtherBehind(_ key: UnsafeRawPointer, _ keyLength: Int, ofEntry entry: Int) -> Bool {
    unsafe keyEquals(key, keyLength, entry: entry)
  }
}
