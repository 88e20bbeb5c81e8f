import Glibc
import SharedMemory
import SharedTable
@testable import TableMirror
import TableTestSupport
import TestSupport
import Testing

@Suite struct ContentTests {
  @Test func keysAreFoundAcrossPages() throws {
    var contents = SourceContents(at: SourcePosition(cluster: 1, revision: 1, term: 1))
    for start in stride(from: 10, to: 60, by: 10) {
      let page = ContentPage()
      for key in start..<start + 5 { page.append(key: Array("k\(key)".utf8), value: [UInt8]()) }
      try contents.add(page)
    }
    for key in 0..<100 {
      let isThere = key >= 10 && key < 60 && key % 10 < 5
      #expect(contents.contains(Array("k\(key)".utf8)) == isThere || key < 10, "k\(key)")
    }
    #expect(!contents.contains(Array("a".utf8)))
    #expect(!contents.contains(Array("z".utf8)))
    let page = ContentPage()
    page.append(key: Array("k10".utf8), value: [UInt8]())
    #expect(throws: MirrorFailure.self) { try contents.add(page) }
  }
}
