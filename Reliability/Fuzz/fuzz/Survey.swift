@testable import TableEngine

/// Walks a valid image and notes where its words lie, by what they are.
struct Survey {
  private let words: Words
  private let hashSeed: UInt64
  private var root: Set<Int> = []
  private var nodes: Set<Int> = []
  private var subTables: Set<Int> = []
  private var buckets: [Int] = []
  private var links: [Int] = []
  private var entries: [Int] = []

  init(_ words: Words, hashSeed: UInt64) {
    self.words = words
    self.hashSeed = hashSeed
    for index in 0..<(1 << DataLayout.rootBits) { visitRoot(DataLayout.root + index * 8) }
  }

  private mutating func visitRoot(_ offset: Int) {
    let word = DirectoryWord(words[offset])
    guard word.isNode else { return visit(word, at: offset) }
    if nodes.contains(word.offset) { return }
    root.insert(offset)
    for index in 0..<(1 << word.bits) {
      nodes.insert(word.offset + index * 8)
      visit(DirectoryWord(words[word.offset + index * 8]), at: word.offset + index * 8)
    }
  }

  private mutating func visit(_ word: DirectoryWord, at offset: Int) {
    var subTable = word.offset
    while subTable != 0, subTables.insert(subTable).inserted {
      if offset < DataLayout.log { root.insert(offset) }
      for slot in 0..<(SubTable.bucketCount * 8) {
        let newest = BucketWord.offset(words[subTable + slot * 8])
        guard newest != 0 else { continue }
        buckets.append(subTable + slot * 8)
        visitChain(newest)
      }
      if !word.isDeep { return }
      links.append(subTable + SubTable.link)
      subTable = Int(words[subTable + SubTable.link] & BucketWord.offsetMask)
    }
  }

  private mutating func visitChain(_ newest: Int) {
    var entry = newest
    while entry != 0 {
      entries.append(entry)
      // What hangs behind a version that no observer reads any more may be gone.
      entry = words[entry + Entry.version] > words[DataLayout.reclaimed] ? Int(words[entry + Entry.prev]) : 0
    }
  }

  /// - Parameter keys: whose directory words come first.
  func places(_ keys: [[UInt8]]) -> Places {
    let published = Int(words[DataLayout.publishedBytes])
    let header =
      Array(stride(from: 0, to: 64, by: 8)) + [
        DataLayout.committed, DataLayout.reclaimed, DataLayout.wseq, DataLayout.publishedBytes,
        DataLayout.logEndPosition, DataLayout.logEndOrdinal, DataLayout.logTailPosition,
      ]
    var places = Places()
    places.groups = [
      header, [DataLayout.committed, DataLayout.reclaimed, DataLayout.wseq, DataLayout.publishedBytes],
      (0..<DataLayout.keyCountSlots).map { DataLayout.keyCounts + $0 * 8 },
      root.sorted(), nodes.sorted(), buckets, buckets, links,
      entries.map { $0 + Entry.version }, entries.map { $0 + Entry.prev }, entries.map { $0 + Entry.meta },
      entries.map { $0 + Entry.meta }, entries.map { $0 + Entry.headerBytes },
      entries.map { $0 + Entry.headerBytes + 8 }, (0..<(1 << DataLayout.rootBits)).map { DataLayout.root + $0 * 8 },
      Array(stride(from: 0, to: published, by: 8)),
    ].filter { !$0.isEmpty }
    // What lies at an end comes first: corpus files count on it.
    let end = words.byteCount - (1 << 20)
    places.targets =
      [0, DataLayout.root, DataLayout.log, published, words.byteCount, end]
      + (1...8).map { end - $0 * 16 } + (1...8).map { published - $0 * 16 }
      + entries + subTables.sorted() + nodes.sorted().prefix(4) + buckets.prefix(64)
    return places
  }
}
