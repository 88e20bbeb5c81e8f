import TestSupport
import Testing

@testable import TableEngine

/// What a barrier of some keys has changed, beside a list that is searched from its end.
@Suite struct ChangeBufferTests {
  /// Nil: removed.
  private typealias Change = (key: [UInt8], value: [UInt8]?)

  /// The newest change of each key, in the order of the keys' first changes.
  private func newest(_ changes: [Change]) -> [Change] {
    var newest: [Change] = []
    for change in changes {
      if let place = newest.firstIndex(where: { $0.key == change.key }) {
        newest[place].value = change.value
      } else {
        newest.append(change)
      }
    }
    return newest
  }

  /// Of few keys, of as many as are looked through just so, and of more.
  @Test(arguments: [3, 16, 17, 60]) func randomChangesAndRollbacksAreThoseOfAList(keyCount: Int) {
    var random = SplitMix(seed: UInt64(keyCount))
    let buffer = ChangeBuffer(locked: [[UInt8]("k".utf8)], timeoutNanoseconds: 0)
    var changes: [Change] = []
    var savepoints: [Int] = []
    for _ in 0..<2_000 {
      let key = [UInt8]("k/\(Int.random(in: 0..<keyCount, using: &random))".utf8)
      switch Int.random(in: 0..<10, using: &random) {
      case 0: savepoints.append(buffer.savepoint)
      case 1:
        guard let savepoint = savepoints.popLast() else { continue }
        buffer.rollback(to: savepoint)
        changes.removeLast(changes.count - savepoint)
      case 2...4:
        key.withUnsafeBytes { buffer.remove($0, version: 1) }
        changes.append((key, nil))
      default:
        let value = [UInt8](repeating: 7, count: Int.random(in: 0..<40, using: &random))
        key.withUnsafeBytes { key in value.withUnsafeBytes { buffer.put(key, $0, ValueAttributes(), version: 1) } }
        changes.append((key, value))
      }
      expectSame(buffer, newest(changes))
    }
    buffer.rollback(to: 0)
    expectSame(buffer, [])
  }

  private func expectSame(_ buffer: ChangeBuffer, _ expected: [Change]) {
    var found: [Change] = []
    var byteCount = 0
    buffer.forEach { entry in
      found.append(([UInt8](entry.key), entry.meta.isTombstone ? nil : [UInt8](entry.value)))
      byteCount += entry.meta.byteCount
    }
    #expect(found.elementsEqual(expected, by: ==))
    #expect(buffer.byteCount == byteCount)
    #expect(buffer.isEmpty == expected.isEmpty)
    for change in expected {
      let entry = change.key.withUnsafeBytes { buffer.entry($0) }
      #expect(entry.map { $0.meta.isTombstone ? nil : [UInt8]($0.value) } == .some(change.value))
    }
  }
}
