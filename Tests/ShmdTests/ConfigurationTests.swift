import SharedTable
import TableMirror
import Testing

@testable import ShmdCore

private let tableKeys =
  "name, variant, capacity, mode, owner, group, full, preallocate, huge-pages, stalled-reader, limbo-budget, durability, upstream"

@Suite struct ConfigurationTests {
  @Test func everyKeyIsRead() throws {
    let configuration = try ConfigurationReader.parse(
      """
      interval: 250ms
      log-level: warning
      tables:
        - name: sessions
          variant: rwlock
          capacity: 2GiB
          mode: "0640"
          owner: root
          group: 0
          full: refuse
          preallocate: true
          huge-pages: false
          stalled-reader: refuse
          limbo-budget: 64 MiB
        - name: other
      """, file: "f")
    #expect(configuration.interval == .milliseconds(250))
    #expect(configuration.logLevel == .warning)
    #expect(configuration.tables.map(\.name) == ["sessions", "other"])
    #expect(
      configuration.tables[0].options
        == Table.Options(
          variant: .rwlock, capacityBytes: 2 << 30, mode: 0o640, owner: 0, group: 0, limboBudgetBytes: 64 << 20,
          stalledReaderPolicy: .refuse, preallocate: true, hugePages: false))
    #expect(configuration.tables[1].options == Table.Options(mode: 0o660))
  }

  /// One of the two could not listen, and would name a stranger who does.
  @Test func twoServersAtOnePlaceAreRefused() throws {
    func problems(_ resp: String, _ monitoring: String) -> [String] {
      do throws(Refusal) {
        _ = try ConfigurationReader.parse("tables: [{name: a}]\nresp: \(resp)\nmonitoring: \(monitoring)\n", file: "f")
        return []
      } catch {
        return error.problems.map(\.description)
      }
    }
    #expect(
      problems("{socket: /run/s}", "{socket: /run/s}")
        == ["f:3: monitoring: 'socket' is that of 'resp', too; give each server its own"])
    #expect(
      problems("{socket: /run/s, listen: 127.0.0.1:1}", "{listen: localhost:1}")
        == ["f:3: monitoring: 'listen' is that of 'resp', too; give each server its own"])
    #expect(problems("{socket: /run/s, listen: 127.0.0.1:1}", "{socket: /run/t, listen: 127.0.0.1:2}").isEmpty)
    #expect(problems("{socket: systemd}", "{socket: systemd}").isEmpty)
  }

  @Test func anUnquotedModeIsReadInOctal() throws {
    let configuration = try ConfigurationReader.parse("tables: [{name: a, mode: 0664}]", file: "f")
    #expect(configuration.tables[0].options.mode == 0o664)
  }

  /// The daemon's file, the command's options and its reports read one form.
  @Test(arguments: [
    ("64M", 64 << 20), ("64 MiB", 64 << 20), ("64MB", 64_000_000), ("2g", 2 << 30), ("67108864", 64 << 20),
  ])
  func sizesAreReadAsTheCommandReadsThem(_ size: (text: String, bytes: Int)) throws {
    let text = "tables: [{name: a, capacity: \(size.text)}]"
    #expect(try ConfigurationReader.parse(text, file: "f").tables[0].options.capacityBytes == size.bytes)
  }

  @Test(arguments: [("5m", 300), ("5min", 300), ("30", 30), ("1h", 3600)])
  func intervalsAreReadAsTheCommandReadsTimes(_ span: (text: String, seconds: Int)) throws {
    let text = "interval: \(span.text)\ntables: []"
    #expect(try ConfigurationReader.parse(text, file: "f").interval == .seconds(span.seconds))
  }

  @Test func noTablesAtAllIsAConfiguration() throws {
    #expect(try ConfigurationReader.parse("tables: []", file: "f").tables.isEmpty)
  }

  @Test func theInstalledConfigurationCreatesDefault() throws {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    let configuration = try ConfigurationReader.read(file: root + "/systemd/shmd.yaml")
    #expect(configuration.tables.map(\.name) == ["default"])
    #expect(configuration.tables[0].options == Table.Options(mode: 0o660))
  }

  /// Each text with all that is said about it.
  static let refusals: [(text: String, complaints: [String])] = [
    ("", ["f:1: the file is empty; write 'tables:' and a list of tables"]),
    ("# nothing\n", ["f:1: the file is empty; write 'tables:' and a list of tables"]),
    ("interval: 1s", ["f:1: the key 'tables' is missing; give it a list of tables, or 'tables: []' for none"]),
    (
      "- a",
      [
        "f:1: the file is a list, not a mapping; write 'key: value' lines with the keys interval, log-level, "
          + "store-directory, tables, resp, monitoring"
      ]
    ),
    (
      "tables:\n  - name: a\n   capacity: [",
      ["f:3: is not YAML: did not find expected '-' indicator, while parsing a block collection (line 2)"]
    ),
    (
      "tables: []\n---\ntables: []",
      ["f:2: is not YAML: another document begins here; keep one"]
    ),
    ("tables: [] # \u{1}", ["f:1: is not YAML: control characters are not allowed"]),
    ("tables: []\ntables: []", ["f:2: 'tables' given twice in one mapping, first in line 1; keep one"]),
    (
      "tables:\n- name: a\n  mode: \"0600\"\n  mode: \"0640\"\n  mode: \"0660\"",
      [
        "f:4: 'mode' given twice in one mapping, first in line 3; keep one",
        "f:5: 'mode' given twice in one mapping, first in line 3; keep one",
      ]
    ),
    (
      "tables:\n- &a {name: a}\n- *a",
      [
        "f:2: is not YAML: anchors (&) and aliases (*) are not used here; write the value where it is needed, or quote it"
      ]
    ),
    (
      "tables:\n- *a",
      [
        "f:2: is not YAML: anchors (&) and aliases (*) are not used here; write the value where it is needed, or quote it"
      ]
    ),
    (
      "tables: !!seq []",
      ["f:1: is not YAML: tags (!) are not used here; write the value alone, or quote it"]
    ),
    (
      "tables:\n- name: !!binary aGVsbG8=",
      ["f:2: is not YAML: tags (!) are not used here; write the value alone, or quote it"]
    ),
    (
      "tables:\n  " + String(repeating: "[", count: 500_000),
      ["f:2: is not YAML: nested more than 16 deep; a configuration has lists of mappings only"]
    ),
    (
      "tables:\n  [" + String(repeating: "a,", count: 250_000) + "]",
      ["f:2: is not YAML: more than 200000 values; no configuration has that many"]
    ),
    (
      "tables: []\nport: 7",
      ["f:2: unknown key 'port' in the file; known are interval, log-level, store-directory, tables, resp, monitoring"]
    ),
    ("tables:\n  name: a", ["f:2: 'tables' is a mapping, not a list; begin each table with '- name: NAME'"]),
    (
      "tables:\n- a",
      ["f:2: a table is the value 'a', not a mapping; write 'key: value' lines with the keys \(tableKeys)"]
    ),
    ("tables:\n- name: a\n  colour: red", ["f:3: unknown key 'colour' in a table; known are \(tableKeys)"]),
    ("tables:\n- capacity: 1MiB", ["f:2: a table without 'name'; give it one"]),
    (
      "tables:\n- name: ../x",
      [
        "f:2: name: '../x' is not a table name; use 1 to 200 letters, digits and . _ - @ : +, not starting with a dot"
      ]
    ),
    ("tables:\n- name: [a]", ["f:2: 'name' is a list; give it one value"]),
    (
      "tables:\n- name: a\n- name: b\n- name: a",
      ["f:4: table 'a' is configured twice, first in line 2; remove one"]
    ),
    (
      "tables:\n- name: a\n  variant: RCU",
      ["f:3: variant: 'RCU' is not a variant; choose one of rcu, rwlock"]
    ),
    (
      "tables:\n- name: a\n  capacity: 64XB",
      [
        "f:3: capacity: '64XB' is not a size that there can be; write bytes, or a whole number with KiB, MiB, GiB or TiB, as in 64MiB"
      ]
    ),
    (
      "tables:\n- name: a\n  capacity: -1",
      [
        "f:3: capacity: '-1' is not a size that there can be; write bytes, or a whole number with KiB, MiB, GiB or TiB, as in 64MiB"
      ]
    ),
    ("tables:\n- name: a\n  capacity: 4095", ["f:3: capacity: a capacity of 4095 is not possible; give 1MiB to 4TiB"]),
    (
      "tables:\n- name: a\n  capacity: 9999999999TiB",
      [
        "f:3: capacity: '9999999999TiB' is not a size that there can be; write bytes, or a whole number with KiB, MiB, GiB or TiB, as in 64MiB"
      ]
    ),
    (
      "tables:\n- name: a\n  mode: \"0777\"",
      [
        "f:3: mode: '0777' is not possible: the owner needs read and write, others at most read, nobody execute; "
          + "write \"0600\", \"0640\", \"0644\", \"0660\" or \"0664\""
      ]
    ),
    (
      "tables:\n- name: a\n  mode: \"0620\"",
      [
        "f:3: mode: '0620' is not possible: who may write must also read; "
          + "write \"0600\", \"0640\", \"0644\", \"0660\" or \"0664\""
      ]
    ),
    (
      "tables:\n- name: a\n  mode: 0o660",
      ["f:3: mode: '0o660' is not a mode; write permission bits in octal, as in \"0660\""]
    ),
    (
      "tables:\n- name: a\n  mode: 668",
      ["f:3: mode: '668' is not a mode; write permission bits in octal, as in \"0660\""]
    ),
    (
      "tables:\n- name: a\n  owner: nobody-at-all\n  group: no-such-group",
      [
        "f:3: owner: there is no user 'nobody-at-all' on this host; create it, or give another name or a number",
        "f:4: group: there is no group 'no-such-group' on this host; create it, or give another name or a number",
      ]
    ),
    (
      "tables:\n- name: a\n  owner: 4294967295",
      ["f:3: owner: there is no user '4294967295' on this host; create it, or give another name or a number"]
    ),
    (
      "tables:\n- name: a\n  full: evict",
      ["f:3: full: 'evict' is not a policy for full tables; the only one is refuse"]
    ),
    (
      "tables:\n- name: a\n  stalled-reader: kill",
      ["f:3: stalled-reader: 'kill' is not a policy for stalled readers; choose one of evict, refuse, wait"]
    ),
    (
      "tables:\n- name: a\n  preallocate: yes",
      ["f:3: preallocate: 'yes' is not true or false; choose one of true, false"]
    ),
    (
      "tables:\n- name: a\n  capacity: 4MiB\n  limbo-budget: 8MiB",
      ["f:4: limbo-budget: 8MiB is out of range; give 64KiB up to the capacity (4MiB)"]
    ),
    (
      "interval: 1ms\ntables: []", ["f:1: interval: an interval of 1ms is not possible; give 10ms to 60m"]
    ),
    (
      "interval: 1d\ntables: []",
      ["f:1: interval: an interval of 1d is not possible; give 10ms to 60m"]
    ),
    (
      "log-level: loud\ntables: []",
      [
        "f:1: log-level: 'loud' is not a log level; "
          + "choose one of trace, debug, info, notice, warning, error, critical"
      ]
    ),
  ]

  @Test(arguments: refusals)
  func aMistakeIsNamedWithItsLine(_ refusal: (text: String, complaints: [String])) {
    #expect(complaints(about: refusal.text) == refusal.complaints)
  }

  /// What is printed reads as the same configuration.
  @Test func aConfigurationIsPrintedAsItIsRead() throws {
    let text = """
      interval: 1500ms
      log-level: debug
      tables:
        - {name: "1", variant: rwlock, capacity: 3MiB, mode: "0640", owner: 0, group: 0, preallocate: true}
        - {name: b, stalled-reader: wait, limbo-budget: 100KiB}
      """
    let configuration = try ConfigurationReader.parse(text, file: "f")
    let printed = ConfigurationText.text(of: configuration)
    let again = try ConfigurationReader.parse(printed, file: "f")
    #expect(again.interval == configuration.interval)
    #expect(again.logLevel == configuration.logLevel)
    #expect(again.tables.map(\.name) == ["1", "b"])
    #expect(again.tables.map(\.options.mode) == [0o640, 0o660])
    #expect(
      again.tables.map(\.options.limits.limboBudgetBytes) == configuration.tables.map(\.options.limits.limboBudgetBytes)
    )
    #expect(again.tables.map(\.options.stalledReaderPolicy) == [.evict, .wait])
    #expect(again.tables.map(\.options.capacityBytes) == configuration.tables.map(\.options.capacityBytes))
    #expect(printed.contains("interval: 1500ms  # f:1\n"))
    #expect(printed.contains("    variant: rwlock  # f:4\n"))
    #expect(printed.contains("    full: refuse  # default\n"))
  }

  /// What has quotes, backslashes or control characters in it reads as what it was.
  @Test func whatIsPrintedIsQuoted() throws {
    let text = #"{store-directory: '/a"b\c', resp: {socket: '/s"\'}, tables: [{name: a}]}"#
    let configuration = try ConfigurationReader.parse(text, file: "f")
    let again = try ConfigurationReader.parse(ConfigurationText.text(of: configuration), file: "f")
    #expect(again.storeDirectory == #"/a"b\c"#)
    #expect(again.resp == configuration.resp)

    let address = MirrorAddress(endpoints: [.init(host: "db", port: 1)], prefix: Array("p".utf8))
    var upstream = UpstreamConfiguration(settings: MirrorSettings(address: address))
    upstream.access.user = "a\"b\\c\t\u{7f}"
    var composer = NodeComposer(upstream.written)
    let pairs = try #require(try composer.document()?.mapping)
    #expect(pairs.first { $0.key.scalar == "user" }?.value.scalar == upstream.access.user)
  }

  @Test func allMistakesAreNamedInTheOrderOfTheFile() {
    let text = """
      intervall: 1s
      tables:
        - name: a
          limbo-budget: 1
          variant: x
          colour: red
        - capacity: 1
        - name: a
          mode: "7"
      """
    let lines = complaints(about: text).map { $0.split(separator: ":")[1] }
    #expect(lines == ["1", "4", "5", "6", "7", "7", "8", "9"])
  }

  @Test func aFileThatIsMissingIsNamed() {
    #expect {
      try ConfigurationReader.read(file: "/nonexistent/shmd.yaml")
    } throws: { error in
      "\(error)"
        == "/nonexistent/shmd.yaml: cannot be read: open: No such file or directory (ENOENT); "
        + "name a readable file with --config"
    }
  }

  @Test func aComplaintStaysOneLine() {
    let lines = complaints(about: "tables:\n- name: \"a\\nb\"\n")
    #expect(lines.count == 1)
    #expect(lines[0].hasPrefix("f:2: name: 'a\\x0ab' is not a table name"))
  }

  /// One thread of the daemon holds a slot of each.
  @Test func moreTablesThanTheDaemonCanKeepAreRefused() {
    func text(_ count: Int) -> String { "tables:\n" + (1...count).map { "- {name: t\($0)}\n" }.joined() }
    #expect(complaints(about: text(1_900)) == [])
    let lines = complaints(about: text(1_901))
    #expect(lines.count == 1 && lines[0].hasPrefix("f:1902: there are 1901 tables; "), "\(lines)")
  }

  /// A file that is wrong all over costs bounded lines, each of bounded length.
  @Test func aFileFullOfMistakesIsToldInBoundedLines() {
    let long = String(repeating: "x", count: 100_000)
    #expect(complaints(about: "\(long): 1\ntables: []").map(\.count).allSatisfy { $0 < 300 })
    #expect(complaints(about: "interval: \(long)\ntables: []").map(\.count).allSatisfy { $0 < 300 })
    let lines = complaints(about: (0..<10_000).map { "key\($0): 1\n" }.joined() + "tables: []")
    #expect(lines.count == 51)
    #expect(lines.last == "f: and 9950 more; correct these first")
  }
}
