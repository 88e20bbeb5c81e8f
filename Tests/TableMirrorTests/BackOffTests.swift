import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct BackOffTests {
  @Test func waitsGrowAndAreSpread() {
    var backOff = BackOff(shortest: .milliseconds(100), longest: .seconds(10))
    #expect(backOff.next(random: 0) == .milliseconds(50))
    #expect(backOff.next(random: 0) == .milliseconds(100))
    #expect(backOff.next(random: 0.5) == .milliseconds(300))
    for _ in 0..<100 { _ = backOff.next(random: 0) }
    #expect(backOff.next(random: 0) == .seconds(5))
    #expect(backOff.next(random: 0.999) < .seconds(10))
    backOff.reset()
    #expect(backOff.next(random: 0) == .milliseconds(50))
  }
}
