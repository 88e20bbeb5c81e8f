import Foundation
import Testing

@testable import shmctl
import ToolSupport

@Suite struct JSONTests {
  @Test func aDefaultIsTheValueOfAKeyThatIsNotThere() throws {
    let table = try TestTable()
    try table.open().set("k", 1)
    let run = try table.run("--json", "get", "--default", "none", "k", "missing")
    #expect(run.status == 0 && run.errors.isEmpty)
    let objects = run.objects.compactMap { $0 }
    #expect(objects.count == 2 && objects[0]["value"] as? Int == 1 && objects[0]["found"] as? Bool == true)
    #expect(objects[1]["value"] as? String == "none" && objects[1]["found"] as? Bool == false)
  }

  /// Every name that `--json` prints is in docs/shmctl-json.md.
  @Test func everyNameIsDocumented() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("docs/shmctl-json.md"), encoding: .utf8)
    let (table, copy, other) = (try TestTable(), try TestTable(isMade: false), try TestTable(isMade: false))
    let handle = try table.open()
    try handle.set("k", "v", expires: .after(.seconds(3600)))
    let dump = try table.run("dump").output
    var objects: [[String: Any]?] = []
    for (arguments, input) in [
      (["get", "k", "none"], nil), (["mget", "k"], nil), (["ls"], nil), (["type", "k"], nil), (["ttl", "k"], nil),
      (["exists", "k"], nil), (["append", "k", "w"], nil), (["cas", "k", "vw", "x"], nil), (["incr", "n"], nil),
      (["set", "--get", "n", "2"], nil), (["rename", "n", "m"], nil), (["expire", "m", "1h"], nil), (["count"], nil),
      (["getdel", "m"], nil), (["mset", "a", "1", "b", "2"], nil), (["del", "a"], nil),
      (["del", "--prefix", "b"], nil),
      (["stat"], nil), (["log"], nil), (["clients"], nil), (["check", "NAME"], nil), (["repair", "NAME"], nil),
      (["wait", "k"], nil), (["watch", "k", "--from", "0", "--count", "1"], nil), (["doctor"], nil),
      (["tables", "--long"], nil), (["top", "--batch", "1", "--interval", "10ms"], nil), (["bench"], nil),
      (["load"], dump), (["load", "--dry-run"], dump), (["copy", "NAME", copy.name], nil),
      (["import", "csv"], Array("key,value\nc,d\n".utf8)), (["diff", "NAME", copy.name], nil),
      (["create", other.name], nil), (["batch"], Array(#"{"op":"incr","key":"i"}"#.utf8)),
      (["transaction"], Array(#"{"op":"incr","key":"i"}"#.utf8)),
    ] as [([String], [UInt8]?)] {
      let words = ["--json"] + arguments.map { $0 == "NAME" ? table.name : $0 }
      let isOfSeveral = ["check", "repair", "doctor", "tables", "top", "bench", "copy", "diff", "create"]
        .contains(arguments[0])
      objects += try CommandRun((isOfSeveral ? [] : ["-t", table.name]) + words, input: input).objects
    }
    #expect(objects.count > 40 && objects.allSatisfy { $0 != nil })
    for name in Swift.Set(objects.compactMap { $0?.keys }.joined()).sorted() where !page.contains("`\(name)`") {
      Issue.record("'\(name)' is not in docs/shmctl-json.md")
    }
    withExtendedLifetime(handle) {}
  }

  private func parse(_ bytes: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
  }

  @Test func everyCharacterSurvivesQuoting() {
    for scalar in (0...0x2ff).compactMap({ Unicode.Scalar($0) }) + ["\u{2028}", "\u{1f600}", "\u{10ffff}"] {
      let text = "a\(String(scalar))z"
      #expect(parse(JSONText.quoted(text)) as? String == text, "U+\(String(scalar.value, radix: 16))")
    }
    #expect(String(decoding: JSONText.quoted("\u{7f}\u{1}\""), as: UTF8.self) == #""\u007f\u0001\"""#)
  }

  /// U+009B is a terminal's "ESC [", also as the two bytes of UTF-8.
  @Test func noControlCharacterIsShownAsItIs() {
    let quoted = String(decoding: JSONText.quoted("a\u{9b}2J\u{80}\u{9f}\u{a0}é"), as: UTF8.self)
    #expect(quoted == #""a\u009b2J\u0080\u009f\#u{a0}é""#)
    let json = Array("{\"\u{7f}\":\"\u{9b}é\"}".utf8)
    let shown = JSONText.escapingControls(json)
    #expect(String(decoding: shown, as: UTF8.self) == #"{"\u007f":"\u009bé"}"#)
    #expect(parse(shown) as? NSObject == parse(json) as? NSObject)
  }

  @Test func base64IsThatOfEverybodyElse() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
      #expect(JSONText.base64(bytes) == Data(bytes).base64EncodedString())
    }
  }

  @Test(arguments: [
    "null", "true", " false ", "0", "-0", "-1.5e+10", "1E5", "\"\"", #""a\n\u00e9\\""#, "[]", "[ ]", "{}", "{ }",
    "[1,2 , 3]", #"{"a":{"b":[null]} , "c" : ""}"#, "\n\t[\r\n]", "\"é😀\"",
  ])
  func checkKeepsWhatIsJSON(text: String) throws {
    let compacted = try #require(JSONCheck.compacted(Array(text.utf8)))
    let before = try #require(parse(Array(text.utf8)) as? NSObject)
    #expect(parse(compacted) as? NSObject == before)
    #expect(!compacted.contains(UInt8(ascii: "\n")))
  }

  @Test(arguments: [
    "", " ", "nul", "truex", "01", "-", "1.", ".5", "1e", "+1", "NaN", "'a'", "\"", "\"a", "\"\n\"", #""\x""#,
    #""\u12g4""#,
    "[", "[1", "[1,]", "[,1]", "[1 2]", "]", "{", "{a:1}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "1 2", "{}{}",
  ])
  func checkRefusesWhatIsNone(text: String) {
    #expect(JSONCheck.compacted(Array(text.utf8)) == nil)
  }

  @Test func checkRefusesBytesThatAreNoUTF8AndNestingWithoutEnd() {
    #expect(JSONCheck.compacted([0x22, 0xff, 0x22]) == nil)
    #expect(JSONCheck.compacted([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)) == nil)
  }

  @Test func whatIsPrintedIsWellFormedWhateverTheTableHolds() throws {
    let table = try TestTable()
    let handle = try table.open()
    try handle.set("text \"\\\u{1}\n", "a\"\u{0}\u{7f}é")
    try handle.set([0xff, 0x00], [0xfe, 0x00] as [UInt8])
    try handle.set("bad string", bytes: [0xff], type: .string)
    try handle.set("bad json", bytes: Array("{".utf8), type: .json)
    try handle.set("json", bytes: Array("{\n \"a\": [1]\n}".utf8), type: .json)
    try handle.set("bad integer", bytes: [1, 2], type: .integer)
    try handle.set("bad bool", bytes: [2], type: .bool)
    try handle.set("structure", bytes: [1, 2], type: .structure)
    try handle.set("nan", Double.nan)
    try handle.set("infinity", -Double.infinity)
    try handle.set("double", 1e300)
    try handle.set("integer", Int.min)
    let keys = try table.run("ls", "--json").objects
    #expect(keys.count == 12 && keys.allSatisfy { $0 != nil })
    #expect(keys.contains { $0?["keyBase64"] as? String == "/wA=" })

    let names = [
      "bad string", "bad json", "json", "bad integer", "bad bool", "structure", "nan", "infinity", "double", "integer",
    ]
    let run = try CommandRun(["-t", table.name, "get", "--json", "text \"\\\u{1}\n"] + names)
    #expect(run.status == 0)
    #expect(run.objects.count == 11 && run.objects.allSatisfy { $0 != nil })
    let found = Dictionary(uniqueKeysWithValues: run.objects.map { ($0?["key"] as? String ?? "", $0 ?? [:]) })
    #expect(found["text \"\\\u{1}\n"]?["value"] as? String == "a\"\u{0}\u{7f}é")
    #expect(found["bad string"]?["valueBase64"] as? String == "/w==")
    #expect(found["bad json"]?["valueBase64"] as? String == "ew==")
    #expect(found["json"]?["value"] as? [String: [Int]] == ["a": [1]])
    #expect(found["bad integer"]?["valueBase64"] as? String == "AQI=")
    #expect(found["bad bool"]?["valueBase64"] as? String == "Ag==")
    #expect(found["structure"]?["type"] as? String == "struct")
    #expect(found["nan"]?["value"] as? String == "nan")
    #expect(found["infinity"]?["value"] as? String == "-inf")
    #expect(found["double"]?["value"] as? Double == 1e300)
    #expect(found["integer"]?["value"] as? Int == Int.min)
  }

  @Test func everyCommandAnswersInJSON() throws {
    let table = try TestTable()
    func only(_ arguments: String...) throws -> [String: Any] {
      let objects = try CommandRun(["--json", "-t", table.name] + arguments).objects
      return try #require(objects.count == 1 ? objects[0] : nil, "\(arguments)")
    }
    #expect(try only("set", "k", "1")["stored"] as? Bool == true)
    #expect(try only("set", "k", "2", "--if-absent")["stored"] as? Bool == false)
    #expect(try only("incr", "k")["value"] as? Int == 2)
    #expect(try only("get", "k")["value"] as? Int == 2)
    #expect(try only("get", "none")["found"] as? Bool == false)
    #expect(try only("exists", "k")["exists"] as? Bool == true)
    #expect(try only("count")["keys"] as? Int == 1)
    #expect(try only("ls")["valueBytes"] as? Int == 8)
    #expect(try only("stat")["keys"] as? Int == 1)
    #expect(try only("del", "k")["removed"] as? Bool == true)
    let other = try TestTable(isMade: false)
    let made = try CommandRun(["create", "--json", other.name, "--capacity", "2MiB"]).objects.first ?? nil
    #expect(made?["capacityBytes"] as? Int == 2 << 20)
  }
}
