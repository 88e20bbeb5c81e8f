import Glibc
import SharedTable
import TestSupport
import Testing

@testable import RESPServer

/// Which rights each command needs, asked by real clients.
struct CommandRightsTests {
  /// A request, and what its client must have on all keys of all tables.
  private typealias Case = (request: String, needs: AccessRights)

  /// All commands; those that are told apart by their second word by both.
  private static let cases: [String: [Case]] = {
    var cases: [String: [Case]] = [:]
    func add(_ needs: AccessRights, _ requests: String...) {
      for request in requests { cases[name(of: request), default: []].append((request, needs)) }
    }
    add(
      .read, "GET k", "MGET k j", "STRLEN k", "GETRANGE k 0 1", "SUBSTR k 0 1", "LCS k j", "EXISTS k", "TOUCH k",
      "KEYS *",
      "SCAN 0", "RANDOMKEY", "TYPE k", "TTL k", "PTTL k", "EXPIRETIME k", "PEXPIRETIME k", "WATCH k", "DBSIZE")
    add(
      .write, "SET k v", "SET k v EX 100 NX", "SETNX k v", "SETEX k 100 v", "PSETEX k 100 v", "MSET k v j w",
      "MSETNX k v j w",
      "DEL k j", "UNLINK k", "EXPIRE k 100", "PEXPIRE k 100", "EXPIREAT k 4000000000", "PEXPIREAT k 4000000000000",
      "PERSIST k")
    add(
      [.read, .write], "SET k v GET", "SET k v EX 100 get", "GETSET k v", "GETDEL k", "GETEX k", "GETEX k EX 100",
      "APPEND k v", "SETRANGE k 0 v", "INCR n", "DECR n", "INCRBY n 1", "DECRBY n 1", "INCRBYFLOAT n 1", "COPY k j",
      "RENAME k j", "RENAMENX j k", "EXPIRE k 100 GT", "PEXPIRE k 100 NX", "EXPIREAT k 4000000000 LT",
      "PEXPIREAT k 4000000000000 XX")
    add(
      .admin, "FLUSHDB", "FLUSHALL", "SAVE", "BGSAVE", "LASTSAVE", "SHUTDOWN", "CLIENT LIST", "CLIENT KILL ID 999999",
      "CONFIG SET save ''", "CONFIG RESETSTAT", "FUNCTION FLUSH", "PUBLISH __keyspace@0__:k set",
      "PUBLISH __keyevent@0__:set k", "PUBLISH __redis__:invalidate k")
    add(.write, "PUBLISH news v")
    add(
      .read, "SUBSCRIBE news", "SUBSCRIBE __keyspace@0__:k", "PSUBSCRIBE *", "PUBSUB CHANNELS", "PUBSUB NUMSUB news",
      "PUBSUB NUMPAT", "CLIENT TRACKING off")
    add(
      [], "MULTI", "EXEC", "DISCARD", "UNWATCH", "UNSUBSCRIBE news", "PUNSUBSCRIBE n*", "PING", "ECHO v", "HELLO",
      "AUTH default x", "ACL WHOAMI", "SELECT 0", "RESET", "QUIT", "INFO", "TIME", "WAIT 0 0", "WAITAOF 0 0 1",
      "CONFIG GET save",
      "CLIENT ID",
      "CLIENT GETNAME", "CLIENT SETNAME me", "CLIENT SETINFO LIB-NAME me", "CLIENT INFO", "CLIENT NO-EVICT on",
      "CLIENT NO-TOUCH on", "CLIENT REPLY on", "CLIENT TRACKINGINFO", "CLIENT GETREDIR", "COMMAND COUNT",
      "COMMAND INFO get",
      "COMMAND DOCS get", "COMMAND LIST", "COMMAND GETKEYS get k")
    return cases
  }()

  private static func name(of request: String) -> String {
    let words = request.lowercased().split(separator: " ").map(String.init)
    let known = CommandTable.shared.commands.first { $0.name == words[0] }.map(CommandWords.words) ?? []
    return known.isEmpty ? words[0] : "\(words[0])|\(words[1])"
  }

  /// A command, and a second word, that comes later has its place here too.
  @Test func everyCommandIsAsked() {
    let names = CommandTable.shared.commands.flatMap { command in
      let words = CommandWords.words(of: command)
      return words.isEmpty ? [command.name] : words.map { "\(command.name)|\($0.lowercased())" }
    }
    #expect(Set(names) == Set(Self.cases.keys))
  }

  @Test(arguments: 0..<UInt8(8))
  func aCommandIsRefusedWithoutItsRights(_ bits: UInt8) async throws {
    let granted = AccessRights(rawValue: bits)
    try await withServer(granting: [rule(granted)]) { server, _ throws in
      for (request, needs) in Self.cases.values.joined() {
        try server.table.set("n", 1)
        let client = try server.client()
        try client.send(request + "\r\n")
        let answer = try client.answer()
        let missing = needs.subtracting(granted)
        guard !missing.isEmpty else {
          #expect(!answer.contains("NOPERM"), "\(request) with '\(granted)': \(answer)")
          continue
        }
        let lacks = answer.split(separator: "it lacks '").last?.prefix { $0 != "'" }.split(separator: ", ") ?? []
        // Of two keys with rights of their own, those of the first are named.
        #expect(
          answer.hasPrefix("-NOPERM uid \(geteuid()) may not give '\(Self.name(of: request))': it lacks '")
            && !lacks.isEmpty && lacks.allSatisfy { missing.description.contains($0) },
          "\(request) with '\(granted)': \(answer)")
        // In a transaction, it is refused when it is to be queued.
        try client.send("MULTI\r\n\(request)\r\nEXEC\r\n")
        #expect(try client.answer() == "+OK")
        #expect(try client.answer() == answer)
        #expect(try client.answer().hasPrefix("-EXECABORT"), "\(request) with '\(granted)'")
      }
    }
  }

  /// A command with no second word is judged before it is refused for that.
  @Test func aWordThatIsMissingGrantsNothing() async throws {
    try await withServer(granting: [rule([.read, .write])]) { _, client throws in
      #expect(try client.call("ACL").hasPrefix("-ERR wrong number of arguments"))
      #expect(try client.call("ACL", "LIST") == "-ERR unknown subcommand 'LIST'. Try ACL HELP.")
      #expect(try client.call("ACL", "GETUSER", "default").hasPrefix("-ERR unknown subcommand 'GETUSER'"))
      // The long s has S for its upper case, but to Redis no letters have case but those of ASCII.
      #expect(
        try client.call("CONFIG", "\u{17F}et", "save", "") == "-ERR unknown subcommand '\u{17F}et'. Try CONFIG HELP.")
    }
  }
}
