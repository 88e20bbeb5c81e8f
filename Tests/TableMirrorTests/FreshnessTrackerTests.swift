import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct FreshnessTrackerTests {
  private func look(_ revision: Int64) -> FreshnessTracker.Look {
    FreshnessTracker.Look(revision: revision, term: 3, realtime: UInt64(revision) * 10, monotonic: 0)
  }

  @Test func whatIsAppliedAlreadyIsKnownAtOnce() {
    var tracker = FreshnessTracker()
    #expect(tracker.look(look(5), applied: 5) == look(5))
    #expect(tracker.look(look(6), applied: 5) == nil)
    #expect(tracker.apply(first: 6, last: 6) == look(6))
  }

  @Test func anAnswerCountsWithTheNext() {
    var tracker = FreshnessTracker()
    #expect(tracker.look(look(9), applied: 5) == nil)
    #expect(tracker.progress(9) == nil)
    #expect(tracker.look(look(11), applied: 5) == nil)
    #expect(tracker.progress(11) == look(9))
  }

  /// In a store that is busy elsewhere each look is newer than the answer that was asked for before it.
  @Test func aLookThatNothingWasAskedForDoesNotTakeTheAskedOnesPlace() {
    var tracker = FreshnessTracker()
    _ = tracker.look(look(9), applied: 5)
    #expect(tracker.progress(9) == nil)
    _ = tracker.look(look(11), applied: 5)
    _ = tracker.look(look(12), applied: 5, asks: false)
    #expect(tracker.progress(11) == look(9))
  }

  @Test func anAnswerThatOvertookAnEventDoesNotCount() {
    var tracker = FreshnessTracker()
    _ = tracker.look(look(9), applied: 5)
    #expect(tracker.progress(9) == nil)
    #expect(tracker.apply(first: 8, last: 8) == nil)
    #expect(tracker.overtaken == 1)
    _ = tracker.look(look(11), applied: 8)
    #expect(tracker.progress(11) == nil)
  }

  @Test func anAnswerBehindTheLookDoesNotCount() {
    var tracker = FreshnessTracker()
    _ = tracker.look(look(9), applied: 5)
    #expect(tracker.progress(8) == nil)
    #expect(tracker.progress(9) == nil)
    #expect(tracker.progress(10) == nil)
  }
}
