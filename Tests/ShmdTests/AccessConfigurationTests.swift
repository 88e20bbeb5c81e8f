import RESPServer
import Testing

@testable import ShmdCore

/// `resp: access`.
@Suite struct AccessConfigurationTests {
  private static let head = "tables: [{name: a}, {name: b}]\nresp:\n  socket: /s\n"

  @Test func rulesAreReadAndPrintedAsTheyAreRead() throws {
    let text =
      Self.head + """
          access:
            - {users: [root, 4321], groups: [0], rights: [read, write, admin]}
            - groups: [4322]
              tables: [b]
              keys: ["session:*", 'a"\\b', "*"]
              rights: [write]
            - {anyone: true, rights: [read]}
        """
    let configuration = try ConfigurationReader.parse(text, file: "f")
    let rules = try #require(configuration.resp?.access?.map(\.rule))
    var first = AccessRule(rights: [.read, .write, .admin])
    first.users = [0, 4321]
    first.groups = [0]
    var second = AccessRule(rights: .write)
    second.groups = [4322]
    second.tables = ["b"]
    second.keys = ["session:*", "a\"\\b", "*"].compactMap(KeyPattern.init)
    var third = AccessRule(rights: .read)
    third.isForAnyone = true
    #expect(rules == [first, second, third])
    let printed = ConfigurationText.text(of: configuration)
    #expect(printed.contains("{users: [0, 4321], groups: [0], rights: [read, write, admin]}"))
    let again = try ConfigurationReader.parse(printed, file: "f")
    #expect(again.resp?.access?.map(\.rule) == rules)
    #expect(try ConfigurationReader.parse(Self.head, file: "f").resp?.access == nil)
  }

  /// What is below `access`, with all that is said about it.
  static let refusals: [(text: String, complaints: [String])] = [
    (" all", ["'resp: access' is the value 'all', not a list; begin each rule with '- users: […]'"]),
    (" []", ["resp: 'access' has no rule, so nobody could do anything; write a rule, or remove the key"]),
    (
      " [root]",
      [
        "a rule of 'resp: access' is the value 'root', not a mapping; write 'key: value' lines with the keys users, groups, "
          + "anyone, tables, keys, rights"
      ]
    ),
    (
      " [{user: [root], anyone: true, rights: [read]}]",
      ["unknown key 'user' in a rule of 'resp: access'; known are users, groups, anyone, tables, keys, rights"]
    ),
    (" [{rights: [read]}]", ["a rule of 'resp: access' names nobody; give it 'users', 'groups' or 'anyone: true'"]),
    (
      " [{anyone: false, rights: [read]}]",
      ["a rule of 'resp: access' names nobody; give it 'users', 'groups' or 'anyone: true'"]
    ),
    (" [{users: [0]}]", ["a rule of 'resp: access' grants nothing; give it 'rights', as in 'rights: [read]'"]),
    (
      " [{users: [], rights: [read]}]", ["'resp: access: users' is empty; name some, or remove the key"]
    ),
    (
      " [{users: [0], keys: [], tables: [], rights: []}]",
      [
        "'resp: access: keys' is empty; name some, or remove the key",
        "'resp: access: tables' is empty; name some, or remove the key",
        "'resp: access: rights' is empty; name some, or remove the key",
      ]
    ),
    (
      " [{users: [0], rights: [read, delete]}]",
      ["resp: access: rights: 'delete' is not a right; choose one of read, write, admin"]
    ),
    (" [{users: [0], rights: read}]", ["'resp: access: rights' is the value 'read', not a list; write [A, B]"]),
    (
      " [{users: [nobody-at-all], groups: [no-such-group], rights: [read]}]",
      [
        "resp: access: users: there is no user 'nobody-at-all' on this host; create it, or give another name or a number",
        "resp: access: groups: there is no group 'no-such-group' on this host; create it, or give another name or a number",
      ]
    ),
    (
      " [{anyone: yes, rights: [read]}]",
      ["resp: access: anyone: 'yes' is not true or false; choose one of true, false"]
    ),
    (
      " [{users: [0], keys: [\"a*b\", \"\"], rights: [read]}]",
      [
        "resp: access: keys: 'a*b' has a '*' before its end; write a key, or the beginning of keys and a '*'",
        "resp: access: keys: a key has at least one byte; write a key, or the beginning of keys and a '*'",
      ]
    ),
    (
      " [{users: [0], keys: [a], rights: [admin]}]",
      ["resp: access: 'admin' is of whole tables; give it in a rule without 'keys'"]
    ),
    (
      " [{users: [0], tables: [a, c], rights: [read]}]",
      ["resp: access: tables: 'c' is not among the served tables; correct the name, or remove it"]
    ),
    (
      " [{users: [0], tables: [b], rights: [read]}]\n  tables: [a]",
      ["resp: access: tables: 'b' is not among the served tables; correct the name, or remove it"]
    ),
  ]

  @Test(arguments: refusals)
  func aMistakeIsNamedWithItsLine(_ refusal: (text: String, complaints: [String])) {
    #expect(complaints(about: Self.head + "  access:" + refusal.text) == refusal.complaints.map { "f:4: \($0)" })
  }

  @Test func rulesForUsersAloneAreNoneForTCP() {
    let text = "tables: [{name: a}]\nresp:\n  listen: 127.0.0.1:6379\n  access: [{users: [0], rights: [read]}]\n"
    #expect(
      complaints(about: text) == [
        "f:3: resp: nobody who comes by 'listen' could do anything: over TCP nobody tells a user, and no rule of 'access' is for "
          + "anyone; write one with 'anyone: true', or remove 'listen'"
      ])
    #expect(complaints(about: text.replacing("users: [0]", with: "anyone: true")).isEmpty)
  }
}
