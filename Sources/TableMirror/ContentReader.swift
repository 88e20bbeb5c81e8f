/// Reads all keys of the prefix at one revision, page by page.
struct ContentReader {
  private let session: any MirrorSession
  private let prefixLength: Int
  private let mostBytes: Int

  /// A page is about so large: large enough that asking costs little, small enough that several fit into memory at any time.
  private static let pageBytes = 1 << 20
  /// And no larger than what comes within about this time: over a slow link a megabyte takes longer than a call may.
  private static let pageTime = Duration.seconds(1)
  private static let firstLimit = 64
  private static let mostKeys = 16_384
  /// The table has some for each key, besides the key's and the value's own: without a bound for keys that are nothing but the prefix, a
  /// read would have all memory.
  private static let leastEntryBytes = 16

  /// - Parameters:
  ///   - prefixLength: so many first bytes of each key are not stored.
  ///   - mostBytes: more than this could not be stored.
  init(_ session: any MirrorSession, prefixLength: Int, mostBytes: Int) {
    self.session = session
    self.prefixLength = prefixLength
    self.mostBytes = mostBytes
  }

  /// - Parameter first: where the store was when it was looked at.
  func read(after first: SourcePosition) async throws -> SourceContents {
    var contents: SourceContents?
    var last: [UInt8]?
    var limit = Self.firstLimit
    while true {
      let page = ContentPage()
      let answer: (position: SourcePosition, hasMore: Bool)
      let begin = ContinuousClock.now
      do {
        answer = try await session.read(
          into: page, after: last, at: contents?.position.revision ?? 0, limit: limit)
      } catch let failure as MirrorFailure where failure.mayBeOfSize && limit > 1 {
        limit = max(1, limit / 16)
        continue
      }
      try check(answer.position, with: contents?.position ?? first)
      var whole = contents ?? SourceContents(at: answer.position)
      last = page.lastKey ?? last
      try whole.add(page)
      contents = whole
      let stored = whole.byteCount + whole.count * (Self.leastEntryBytes - prefixLength)
      guard stored <= mostBytes else {
        throw MirrorFailure.stopped(
          "what the other store holds does not fit: more than the \(mostBytes) bytes of the table's capacity; make the table anew with more"
        )
      }
      if !answer.hasMore { return whole }
      guard page.count > 0 else { throw MirrorFailure.stopped("the other store promises more keys and gives none") }
      limit = Self.limit(after: page, limit, took: .now - begin)
    }
  }

  /// Each page may come over another connection: what answers there now may be another store than before.
  private func check(_ position: SourcePosition, with before: SourcePosition) throws(MirrorFailure) {
    if position.cluster == before.cluster, position.revision >= before.revision, position.term >= before.term { return }
    throw .away("another store, or an old copy, began to answer while the prefix was read")
  }

  /// As many keys as make a page of the size wanted, if they are as those before.
  static func limit(after page: ContentPage, _ limit: Int, took: Duration) -> Int {
    let inTime = took > pageTime ? Int(Double(page.byteCount) * (pageTime / took)) : pageBytes
    let fitting = min(pageBytes, inTime) / max(1, page.byteCount / page.count)
    return max(1, min(fitting, limit * 4, mostKeys))
  }
}
