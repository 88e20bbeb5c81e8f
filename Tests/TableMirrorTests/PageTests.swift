import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct PageTests {
  @Test func aPageIsAMegabyteOrWhatComesInASecond() {
    let page = ContentPage()
    for number in 0..<64 { page.append(key: Array("key \(number)".utf8), value: [UInt8](repeating: 0, count: 8192)) }
    // At full speed: four times as many, if that is no more than a megabyte.
    #expect(ContentReader.limit(after: page, 16, took: .milliseconds(10)) == 64)
    #expect(ContentReader.limit(after: page, 64, took: .milliseconds(10)) == 127)
    #expect(ContentReader.limit(after: page, 64, took: .seconds(4)) == 16)
    #expect(ContentReader.limit(after: page, 64, took: .seconds(4000)) == 1)
  }
}
