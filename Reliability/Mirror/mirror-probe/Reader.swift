#if Etcd
  import TableMirror

  /// Reads all of the prefix in pages as large as a mirror's, and throws them away: how fast etcd and this client can be at most.
  struct Reader {
    private let session: any MirrorSession
    /// What a mirror asks for at most; small keys are a smaller page than the bytes that it takes.
    private static let pageKeys = 16_384

    init(_ session: any MirrorSession) { self.session = session }

    func readAll() async throws {
      let begin = ContinuousClock.now
      var (last, revision, count) = ([UInt8]?.none, Int64(0), 0)
      while true {
        let page = ContentPage()
        let answer = try await session.read(into: page, after: last, at: revision, limit: Self.pageKeys)
        count += page.count
        revision = answer.position.revision
        guard answer.hasMore else { break }
        last = page.lastKey
      }
      Role.say("read \(count) \((ContinuousClock.now - begin) / .seconds(1))")
    }
  }
#endif
