import SharedMemory
import SharedTable
import Testing

@testable import ShmdCore
@testable import TableMirror

@Suite struct MirrorSampleTests {
  @Test func theAgeOfAMirrorIsThatOfItsReport() throws {
    var report = MirrorReport()
    #expect(MirrorSample(table: "a", report).lagNanoseconds == nil)
    var status = UpstreamStatus(.away, address: "etcd://a:1/p")
    status.revision = 1
    (status.asOf, status.asOfMonotonic) = (HostClock.realtimeNanoseconds, HostClock.monotonicNanoseconds)
    status.asOf -= 5_000_000_000
    report.status = status
    #expect(try #require(MirrorSample(table: "a", report).lagNanoseconds) >= 5_000_000_000)
  }
}
