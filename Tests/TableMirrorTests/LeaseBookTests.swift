import SharedTable
@testable import TableMirror
import Testing

/// Which expiry keys with leases are to have, with clocks that stand still.
@Suite struct LeaseBookTests {
  private static let second: UInt64 = 1_000_000_000
  private static let grace = 3 * second
  private var book = LeaseBook()

  private func moment(_ seconds: UInt64, calendar: UInt64 = 1_000_000) -> UpstreamStatus.Moment {
    .init(realtime: (calendar + seconds) * Self.second, monotonic: (100 + seconds) * Self.second)
  }

  private func change(_ key: String, _ lease: Int64, expiry: UInt64? = nil) -> LeaseBook.Change {
    .init(key: Array(key.utf8), lease: lease, expiry: expiry)
  }

  private mutating func set(_ key: String, _ lease: Int64, expiry: UInt64? = nil) {
    book.apply([change(key, lease, expiry: expiry)])
  }

  private mutating func answer(_ lease: Int64, _ left: UInt64?, at seconds: UInt64) {
    book.note(lease, left: left.map { $0 * Self.second }, now: moment(seconds).monotonic)
  }

  private func moves(_ seconds: UInt64, calendar: UInt64 = 1_000_000) -> [LeaseBook.Move] {
    book.moves(now: moment(seconds, calendar: calendar), grace: Self.grace)
  }

  /// The expiries, in seconds of the calendar from 1,000,000 on, that the table is told at a moment.
  private mutating func tell(_ seconds: UInt64, calendar: UInt64 = 1_000_000) -> [UInt64] {
    let all = moves(seconds, calendar: calendar)
    for move in all { book.note(move) }
    return all.sorted { $0.lease < $1.lease }.map { $0.expiry / Self.second - 1_000_000 }
  }

  @Test mutating func aKeyOfALeaseThatNobodyHasAskedForDoesNotExpire() {
    set("a", 1)
    #expect(moves(0).isEmpty)
    #expect(book.expiry(of: 1) == nil)
    #expect(book.due(now: moment(0).monotonic, limit: 9) == [1])
  }

  @Test mutating func aKeyExpiresAGraceAfterItsLeasesEndAsLastKnown() {
    set("a", 1)
    set("b", 1)
    answer(1, 10, at: 0)
    #expect(Set(moves(0)[0].keys) == [Array("a".utf8), Array("b".utf8)])
    #expect(tell(0) == [13])
    #expect(tell(5).isEmpty && tell(9).isEmpty)
    // Kept alive meanwhile, which shows when it is asked for.
    answer(1, 10, at: 6)
    #expect(tell(6) == [19])
    #expect(book.expiry(of: 1) == 1_000_019 * Self.second)
  }

  @Test(arguments: [0, nil]) mutating func whileItIsFollowedNoExpiryIsNearerThanTheGrace(left: UInt64?) {
    set("a", 1)
    answer(1, left, at: 0)
    #expect(tell(0) == [3])
    #expect(tell(1) == [4])
    #expect(tell(3) == [6])
    // Not known any more: its keys are being removed over there.
    answer(1, nil, at: 3)
    #expect(tell(4) == [7])
  }

  @Test mutating func aLeaseIsAskedForWhenHalfOfItsTimeHasPassedTheMostUrgentFirst() {
    for lease in 1...3 as ClosedRange<Int64> { set("k\(lease)", lease) }
    answer(1, 60, at: 0)
    answer(2, 20, at: 0)
    answer(3, 0, at: 0)
    #expect(book.due(now: moment(9).monotonic, limit: 9) == [3])
    #expect(Set(book.due(now: moment(10).monotonic, limit: 9)) == [2, 3])
    #expect(book.due(now: moment(30).monotonic, limit: 2) == [3, 2])
    #expect(book.due(now: moment(30).monotonic, limit: 9).count == 3)
  }

  @Test mutating func aLeaseOnlyBecomesLonger() {
    set("a", 1)
    answer(1, 10, at: 0)
    #expect(tell(0) == [13])
    answer(1, 8, at: 1)
    #expect(tell(1).isEmpty)
  }

  @Test mutating func aCalendarThatWasSetMovesExpiriesWithIt() {
    set("a", 1)
    answer(1, 10, at: 0)
    #expect(tell(0) == [13])
    #expect(tell(1, calendar: 1_000_100) == [113])
    #expect(tell(2, calendar: 1_000_000) == [13])
  }

  @Test mutating func keysOfOneLeaseHaveOneExpiry() {
    set("a", 1)
    answer(1, 10, at: 0)
    #expect(tell(0) == [13])
    set("b", 1, expiry: book.expiry(of: 1))
    #expect(moves(0).isEmpty)
    set("c", 1, expiry: nil)
    #expect(moves(0).first?.keys.count == 3)
    #expect(tell(0) == [13] && tell(0).isEmpty)
  }

  @Test mutating func aKeyHasItsLastLeaseAndALeaseWithoutKeysIsForgotten() {
    set("a", 1)
    set("b", 1)
    set("a", 2)
    #expect(book.count == 2)
    set("b", 0)
    #expect(book.count == 1 && book.due(now: .max, limit: 9) == [2])
    set("a", 0)
    set("never", 0)
    #expect(book.count == 0)
  }

  /// Nobody answers how long it lasts, and it is followed all the same.
  @Test(arguments: [0, 2]) mutating func aLeaseThatChangesItsOnlyKeyInOneRevisionKeepsItsEnd(next: Int64) {
    set("a", 1)
    answer(1, 10, at: 0)
    #expect(tell(0) == [13])
    book.apply([change("a", next), change("b", 1, expiry: book.expiry(of: 1))])
    #expect(moves(5).isEmpty)
    #expect(moves(12).map(\.keys) == [[Array("b".utf8)]])
    #expect(tell(12) == [15])
  }

  @Test mutating func whatATableHadOfALeaseIsWhatIsKnownOfIt() {
    set("a", 1, expiry: 1_000_020 * Self.second)
    set("b", 2)
    book.assumeEnds(now: moment(0), grace: Self.grace)
    #expect(moves(10).isEmpty)
    #expect(tell(18) == [21])
  }

  /// The table's expiry may be of another lease, or by a calendar that was set since.
  @Test mutating func anAnswerIsBelievedRatherThanTheTable() {
    set("a", 1, expiry: 1_003_600 * Self.second)
    book.assumeEnds(now: moment(0), grace: Self.grace)
    answer(1, 10, at: 0)
    #expect(tell(0) == [13])
    answer(1, 8, at: 1)
    #expect(tell(1).isEmpty)
  }

  /// Whichever of its keys is met first: one that was stored without an expiry, as its value is new, tells nothing.
  @Test(arguments: [["a", "b"], ["b", "a"]])
  mutating func theNearestExpiryOfALeasesKeysIsWhatIsKnownOfIt(order: [String]) {
    for key in order { set(key, 1, expiry: key == "a" ? nil : 1_000_006 * Self.second) }
    set("c", 1, expiry: 1_000_020 * Self.second)
    book.assumeEnds(now: moment(0), grace: Self.grace)
    #expect(moves(2).first?.keys.count == 3)
    #expect(tell(2) == [6] && tell(2).isEmpty)
    #expect(tell(5) == [8])
  }
}
