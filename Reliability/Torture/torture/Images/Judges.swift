import TestSupport

/// Processes that judge images, each with an image of its own: while one is judged, the next is made.
final class Judges {
  private(set) var images = 0
  private let run: Run
  private let benches: [Bench]

  private final class Bench {
    let pair: ImagePair
    let checker: WorkerProcess
    /// What is being judged.
    var place: String?

    init(_ table: String) throws {
      pair = ImagePair(table)
      checker = try startWorker("image-checker", timeoutSeconds: 24 * 3600)
    }
  }

  init(_ run: Run, table: String, count: Int = 2) throws {
    self.run = run
    benches = try (0..<count).map { try Bench("\(table).image\($0)") }
  }

  deinit { for bench in benches { removeObjects(ofTable: bench.pair.table) } }

  /// Makes an image and has it judged.
  /// - Parameters:
  ///   - job: with IMAGE for the image's name.
  ///   - place: for the message.
  func judge(_ state: WatchedTable, dead marks: [StoreTrace.Mark], _ job: [String], _ place: String) throws {
    let bench = benches[images % benches.count]
    try settle(bench)
    images += 1
    try bench.pair.write(state, dead: marks)
    try bench.checker.send(job.map { $0 == "IMAGE" ? bench.pair.table : $0 }.joined(separator: " "))
    bench.place = place
  }

  /// Has a table itself judged, in the place of an image.
  func judge(inPlace table: String, _ job: [String], _ place: String) throws {
    try settle()
    try benches[0].checker.send(job.map { $0 == "IMAGE" ? table : $0 }.joined(separator: " "))
    benches[0].place = place
    try settle()
  }

  /// Waits for all verdicts.
  func settle() throws { for bench in benches { try settle(bench) } }

  private func settle(_ bench: Bench) throws {
    guard let place = bench.place else { return }
    bench.place = nil
    let verdict = try bench.checker.readLine()
    try run.expect(verdict == "ok", "\(place): \(verdict)")
  }
}
