extension CommandTable {
  static let list: [Command] = strings + keys + transactions + channels + connection

  private static let strings: [Command] = [
    read("get", 2, .get, "@string fast", (1, 1, 1), "The string value of a key."),
    read("mget", -2, .mget, "@string fast", (1, -1, 1), "The values of several keys, all of one moment."),
    read("strlen", 2, .strlen, "@string fast", (1, 1, 1), "The length of a value."),
    read("getrange", 4, .getrange, "@string", (1, 1, 1), "A part of a value."),
    read("substr", 4, .getrange, "@string", (1, 1, 1), "A part of a value."),
    read("lcs", -3, .lcs, "@string", (1, 2, 1), "The longest common subsequence of two values."),
    write("set", -3, .set, "@string denyoom", (1, 1, 1), "Stores a value."),
    write("setnx", 3, .setnx, "@string denyoom fast", (1, 1, 1), "Stores a value if the key is absent."),
    write("setex", 4, .setex, "@string denyoom", (1, 1, 1), "Stores a value with an expiry in seconds."),
    write("psetex", 4, .psetex, "@string denyoom", (1, 1, 1), "Stores a value with an expiry in milliseconds."),
    write("getset", 3, .getset, "@string denyoom fast", (1, 1, 1), "Stores a value and answers the one before."),
    write("getdel", 2, .getdel, "@string fast", (1, 1, 1), "Answers a value and removes it."),
    write("getex", -2, .getex, "@string fast", (1, 1, 1), "Answers a value and sets its expiry."),
    write("mset", -3, .mset, "@string denyoom", (1, -1, 2), "Stores several values in one barrier."),
    write("msetnx", -3, .msetnx, "@string denyoom", (1, -1, 2), "Stores several values if none of the keys is there."),
    write("append", 3, .append, "@string denyoom fast", (1, 1, 1), "Appends to a value."),
    write("setrange", 4, .setrange, "@string denyoom", (1, 1, 1), "Overwrites a part of a value."),
    write("incr", 2, .incr, "@string denyoom fast", (1, 1, 1), "Adds one."),
    write("decr", 2, .decr, "@string denyoom fast", (1, 1, 1), "Subtracts one."),
    write("incrby", 3, .incrby, "@string denyoom fast", (1, 1, 1), "Adds an integer."),
    write("decrby", 3, .decrby, "@string denyoom fast", (1, 1, 1), "Subtracts an integer."),
    write("incrbyfloat", 3, .incrbyfloat, "@string denyoom fast", (1, 1, 1), "Adds a number."),
  ]

  private static let keys: [Command] = [
    read("exists", -2, .exists, "@generic fast", (1, -1, 1), "How many of the keys are there."),
    read("touch", -2, .touch, "@generic fast", (1, -1, 1), "How many of the keys are there."),
    read("keys", 2, .keys, "@generic", (0, 0, 0), "The keys that match a pattern."),
    read("scan", -2, .scan, "@generic", (0, 0, 0), "Some keys, and where to go on."),
    read("randomkey", 1, .randomkey, "@generic", (0, 0, 0), "Any key."),
    read("type", 2, .type, "@generic fast", (1, 1, 1), "What a value is."),
    read("ttl", 2, .ttl, "@generic fast", (1, 1, 1), "Seconds that a value lasts."),
    read("pttl", 2, .pttl, "@generic fast", (1, 1, 1), "Milliseconds that a value lasts."),
    read("expiretime", 2, .expiretime, "@generic fast", (1, 1, 1), "When a value expires, in seconds since 1970."),
    read("pexpiretime", 2, .pexpiretime, "@generic fast", (1, 1, 1), "When a value expires, in milliseconds."),
    write("del", -2, .del, "@generic", (1, -1, 1), "Removes keys."),
    write("unlink", -2, .del, "@generic fast", (1, -1, 1), "Removes keys."),
    write("copy", -3, .copy, "@generic denyoom", (1, 2, 1), "Stores a value under a second key."),
    write("rename", 3, .rename, "@generic", (1, 2, 1), "Moves a value to another key."),
    write("renamenx", 3, .renamenx, "@generic fast", (1, 2, 1), "Moves a value to a key that is absent."),
    write("expire", -3, .expire, "@generic fast", (1, 1, 1), "Sets how many seconds a value lasts."),
    write("pexpire", -3, .pexpire, "@generic fast", (1, 1, 1), "Sets how many milliseconds a value lasts."),
    write("expireat", -3, .expireat, "@generic fast", (1, 1, 1), "Sets when a value expires, in seconds since 1970."),
    write("pexpireat", -3, .pexpireat, "@generic fast", (1, 1, 1), "Sets when a value expires, in milliseconds."),
    write("persist", 2, .persist, "@generic fast", (1, 1, 1), "Lets a value last for ever."),
    write("flushdb", -1, .flushdb, "@server", (0, 0, 0), "Removes all keys of the table."),
  ]

  private static let transactions: [Command] = [
    plain("multi", 1, .multi, "@transactions", "Begins a transaction."),
    plain("exec", 1, .exec, "@transactions", "Carries it out, in one barrier."),
    plain("discard", 1, .discard, "@transactions", "Gives it up."),
    plain("watch", -2, .watch, "@transactions", "Makes it depend on keys.", (1, -1, 1)),
    plain("unwatch", 1, .unwatch, "@transactions", "Makes it depend on none."),
  ]

  private static let channels: [Command] = [
    plain("subscribe", -2, .subscribe, "@pubsub", "Listens to channels."),
    plain("unsubscribe", -1, .unsubscribe, "@pubsub", "Listens no more."),
    plain("psubscribe", -2, .psubscribe, "@pubsub", "Listens to channels that match patterns."),
    plain("punsubscribe", -1, .punsubscribe, "@pubsub", "Listens to patterns no more."),
    plain("publish", 3, .publish, "@pubsub", "Sends a message to who listens."),
    plain("pubsub", -2, .pubsub, "@pubsub", "Who listens to what."),
  ]

  private static let connection: [Command] = [
    plain("ping", -1, .ping, "@connection", "Answers."),
    plain("echo", 2, .echo, "@connection", "Answers what it was given."),
    plain("hello", -1, .hello, "@connection", "Chooses the version of the protocol."),
    plain("auth", -2, .auth, "@connection", "Accepted for the user 'default'; rights are the socket's."),
    plain("select", 2, .select, "@connection", "Chooses a table by its place in the configuration."),
    plain("client", -2, .client, "@connection", "About connections."),
    plain("reset", 1, .reset, "@connection", "Makes the connection as new."),
    plain("quit", -1, .quit, "@connection", "Ends the connection."),
    plain("command", -1, .command, "@server", "About commands."),
    plain("info", -1, .info, "@server", "About the server."),
    plain("config", -2, .config, "@server", "Settings that clients ask for."),
    plain("time", 1, .time, "@server", "The time of day."),
    plain("dbsize", 1, .dbsize, "@server", "How many keys the table has."),
    plain("flushall", -1, .flushall, "@server", "Removes all keys of all tables, one after the other."),
    plain("save", 1, .save, "@server", "Accepted: shmd keeps tables by itself."),
    plain("bgsave", -1, .bgsave, "@server", "Accepted: shmd keeps tables by itself."),
    plain("lastsave", 1, .lastsave, "@server", "The time at which the server began."),
    plain("shutdown", -1, .shutdown, "@server", "Refused: shmd is stopped by who administers the host."),
    plain("wait", 3, .wait, "@generic", "Answers 0 at once: there are no replicas."),
    plain("function", -2, .function, "@scripting", "FUNCTION FLUSH only: there are no functions."),
  ]

  private static func read(
    _ name: String, _ arity: Int, _ command: ReadCommand, _ words: String, _ keys: (Int, Int, Int), _ summary: String
  ) -> Command { make(name, arity, .read(command), "readonly", words, keys, summary) }

  private static func write(
    _ name: String, _ arity: Int, _ command: WriteCommand, _ words: String, _ keys: (Int, Int, Int), _ summary: String
  ) -> Command { make(name, arity, .write(command), "write", words, keys, summary) }

  private static func plain(
    _ name: String, _ arity: Int, _ command: ConnectionCommand, _ group: String, _ summary: String,
    _ keys: (Int, Int, Int) = (0, 0, 0)
  ) -> Command { make(name, arity, .connection(command), "loading", "\(group) stale fast", keys, summary) }

  private static func make(
    _ name: String, _ arity: Int, _ kind: Command.Kind, _ flag: String, _ words: String, _ keys: (Int, Int, Int),
    _ summary: String
  ) -> Command {
    let words = words.split(separator: " ").map(String.init)
    return Command(
      name: name, arity: arity, kind: kind, flags: [flag] + words.dropFirst(), keys: (keys.0, keys.1, keys.2),
      summary: summary, group: String(words[0].dropFirst()))
  }
}
