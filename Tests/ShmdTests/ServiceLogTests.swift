import Testing

@testable import ShmdCore

@Suite struct ServiceLogTests {
  @Test func aTimestampIsCalendarTime() {
    #expect(ServiceLog.timestamp(0) == "1970-01-01T00:00:00.000Z")
    #expect(ServiceLog.timestamp(951_782_400_000_000_000) == "2000-02-29T00:00:00.000Z")
    #expect(ServiceLog.timestamp(1_798_761_599_042_000_000) == "2026-12-31T23:59:59.042Z")
  }
}
