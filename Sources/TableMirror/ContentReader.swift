/// Reads all keys of the prefix at one revision, page by page.
struct ContentReader {
  private let session: any MirrorSession
  private let mostBytes: Int

  /// A page is about so large: large enough that asking costs little, small enough that several fit into memory at any time.
  private static let pageBytes = 1 << 20
  private static let firstLimit = 64
  private static let mostKeys = 16_384

  /// - Parameter mostBytes: more than this could not be stored.
  init(_ session: any MirrorSession, mostBytes: Int) {
    self.session = session
    self.mostBytes = mostBytes
  }

  func read() async throws -> SourceContents {
    var contents: SourceContents?
    var last: [UInt8]?
    var limit = Self.firstLimit
    while true {
      let page = ContentPage()
      let answer: (position: SourcePosition, hasMore: Bool)
      do {
        answer = try await session.read(
          into: page, after: last, at: contents?.position.revision ?? 0, limit: limit)
      } catch MirrorFailure.answerTooLarge where limit > 1 {
        limit = max(1, limit / 16)
        continue
      }
      var whole = contents ?? SourceContents(at: answer.position)
      last = page.lastKey ?? last
      try whole.add(page)
      contents = whole
      guard whole.byteCount <= mostBytes else {
        throw MirrorFailure.stopped(
          "what the other store holds does not fit: more than the \(mostBytes) bytes of the table's capacity; make the table anew with more"
        )
      }
      if !answer.hasMore { return whole }
      guard page.count > 0 else { throw MirrorFailure.stopped("the other store promises more keys and gives none") }
      limit = Self.limit(after: page, limit)
    }
  }

  /// As many keys as make a page of the size wanted, if they are as those before.
  private static func limit(after page: ContentPage, _ limit: Int) -> Int {
    let fitting = pageBytes / max(1, page.byteCount / page.count)
    return max(1, min(fitting, limit * 4, mostKeys))
  }
}
