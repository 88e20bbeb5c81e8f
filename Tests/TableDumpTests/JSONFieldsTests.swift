import Foundation
import Testing
import ToolSupport

@Suite struct JSONFieldsTests {
  @Test func membersAreRead() throws {
    let fields = try JSONFields(
      line: Array(
        #" {"a" : "x\u00e9\ud83d\ude00\/\n" ,"b":-1.5e3,"c":true,"d":null,"e":{ "x" : [1, "}"] },"f":[]}"#.utf8))
    #expect(fields.names == ["a", "b", "c", "d", "e", "f"])
    #expect(fields.string("a") == "x\u{e9}\u{1f600}/\n")
    #expect(fields["b"] == .number("-1.5e3") && fields["c"] == .bool(true) && fields["d"] == .null)
    #expect(fields["e"] == .container(Array(#"{"x":[1,"}"]}"#.utf8)) && fields["f"] == .container(Array("[]".utf8)))
    #expect(try JSONFields(line: Array("{}".utf8)).names.isEmpty)
  }

  @Test func whatIsNoFlatObjectIsRefusedWithItsColumn() {
    for (line, column) in [
      ("", 1), ("[1]", 1), ("{", 2), ("{\"a\"}", 5), ("{\"a\":1", 7), ("{\"a\":1,}", 8), ("{\"a\":1}x", 8),
      ("{\"a\":01}", 7), ("{\"a\":nul}", 6), ("{\"a\":1,\"a\":2}", 8), ("{1:2}", 2), ("{\"a\":\"\\ud800\"}", 7),
      ("{\"a\":\"\\udc00\\ud800\"}", 7), ("{\"a\":\"\\q\"}", 7), ("{\"a\":\"x", 6), ("{\"a\":[1}", 6),
      ("{\"a\":\"\u{1}\"}", 7),
    ] {
      let error = #expect(throws: JSONFields.Problem.self, "\(line)") { try JSONFields(line: Array(line.utf8)) }
      #expect(error?.column == column, "\(line): \(String(describing: error))")
    }
    #expect(throws: JSONFields.Problem.self) { try JSONFields(line: [0x7b, 0xff, 0x7d]) }
  }

  @Test func base64IsWhatFoundationMakesAndNothingElse() {
    var bytes: [UInt8] = []
    for length in 0..<80 {
      bytes.append(UInt8(truncatingIfNeeded: length &* 83))
      let text = Data(bytes).base64EncodedString()
      #expect(JSONText.bytes(base64: text) == bytes)
      #expect(JSONText.base64(bytes) == text)
    }
    #expect(JSONText.bytes(base64: "") == [])
    for text in ["A", "AA", "AAA", "AA=A", "=AAA", "A===", "AB==", "AAB=", "AA==AAAA", "AA\n=", "????"] {
      #expect(JSONText.bytes(base64: text) == nil, "\(text)")
    }
  }

  @Test func noLineTrapsTheReader() throws {
    let seed = Array(#"{"key":"a\ud83d\ude00","value":{"x":[1,"}\\"]},"n":-1.5e3,"t":true}"#.utf8)
    for index in seed.indices {
      for byte in UInt8.min...UInt8.max {
        var line = seed
        line[index] = byte
        _ = try? JSONFields(line: line)
      }
      _ = try? JSONFields(line: Array(seed[..<index]))
    }
  }
}
