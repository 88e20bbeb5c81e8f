import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct RevisionAssemblerTests {
  private func answer(_ revisions: [Int64], isFragment: Bool) -> WatchAnswer {
    WatchAnswer(
      position: SourcePosition(cluster: 1, revision: 9, term: 1),
      events: revisions.map { SourceEvent(key: [UInt8(truncatingIfNeeded: $0)], value: [], revision: $0) },
      isFragment: isFragment)
  }

  private func numbers(_ revisions: [SourceRevision]) -> [Int64] {
    revisions.flatMap { revision in revision.events.map { _ in revision.number } }
  }

  /// One who catches up is sent thousands of revisions in one batch.
  @Test func aRevisionIsWholeWhenALaterOneComesInTheSameBatch() throws {
    var assembler = RevisionAssembler(after: 2)
    #expect(numbers(try assembler.add(answer([2, 3, 3], isFragment: true))) == [])
    #expect(numbers(try assembler.add(answer([3, 4, 5], isFragment: true))) == [3, 3, 3, 4])
    #expect(numbers(try assembler.add(answer([], isFragment: true))) == [])
    #expect(numbers(try assembler.add(answer([5], isFragment: false))) == [5, 5])
    #expect(numbers(try assembler.add(answer([5, 6], isFragment: false))) == [6])
  }

  /// Some other program answers, without end: it is not gathered until memory is used up.
  @Test func aRevisionThatCannotFitIsNotGathered() throws {
    var assembler = RevisionAssembler(after: 2, mostBytes: 1500)
    let event = SourceEvent(key: [1], value: [UInt8](repeating: 0, count: 99), revision: 3)
    func answer(_ revision: Int64) -> WatchAnswer {
      var next = event
      next.revision = revision
      return WatchAnswer(
        position: SourcePosition(cluster: 1, revision: 9, term: 1), events: [next, next, next, next], isFragment: true)
    }
    // Of more than fits into the table, but of several revisions.
    for revision in 3...9 { _ = try assembler.add(answer(Int64(revision))) }
    _ = try assembler.add(answer(9))
    #expect(throws: MirrorFailure.self) { try assembler.add(answer(9)) }
  }
}
