extension CommandTable {
  static let list: [Command] = strings + keys + transactions + channels + connection

  private static let strings: [Command] = [
    read("get", 2, .get, .keys(.read), "@string fast", (1, 1, 1), "The string value of a key."),
    read("mget", -2, .mget, .keys(.read), "@string fast", (1, -1, 1), "The values of several keys, all of one moment."),
    read("strlen", 2, .strlen, .keys(.read), "@string fast", (1, 1, 1), "The length of a value."),
    read("getrange", 4, .getrange, .keys(.read), "@string", (1, 1, 1), "A part of a value."),
    read("substr", 4, .getrange, .keys(.read), "@string", (1, 1, 1), "A part of a value."),
    read("lcs", -3, .lcs, .keys(.read), "@string", (1, 2, 1), "The longest common subsequence of two values."),
    write("set", -3, .set, .set, "@string denyoom", (1, 1, 1), "Stores a value."),
    write("setnx", 3, .setnx, .keys(.write), "@string denyoom fast", (1, 1, 1), "Stores a value if the key is absent."),
    write("setex", 4, .setex, .keys(.write), "@string denyoom", (1, 1, 1), "Stores a value with an expiry in seconds."),
    write(
      "psetex", 4, .psetex, .keys(.write), "@string denyoom", (1, 1, 1),
      "Stores a value with an expiry in milliseconds."),
    write(
      "getset", 3, .getset, .keys([.read, .write]), "@string denyoom fast", (1, 1, 1),
      "Stores a value and answers the one before."),
    write("getdel", 2, .getdel, .keys([.read, .write]), "@string fast", (1, 1, 1), "Answers a value and removes it."),
    write(
      "getex", -2, .getex, .keys([.read, .write]), "@string fast", (1, 1, 1), "Answers a value and sets its expiry."),
    write("mset", -3, .mset, .keys(.write), "@string denyoom", (1, -1, 2), "Stores several values in one barrier."),
    write(
      "msetnx", -3, .msetnx, .keys(.write), "@string denyoom", (1, -1, 2),
      "Stores several values if none of the keys is there."),
    write("append", 3, .append, .keys([.read, .write]), "@string denyoom fast", (1, 1, 1), "Appends to a value."),
    write(
      "setrange", 4, .setrange, .keys([.read, .write]), "@string denyoom", (1, 1, 1), "Overwrites a part of a value."),
    write("incr", 2, .incr, .keys([.read, .write]), "@string denyoom fast", (1, 1, 1), "Adds one."),
    write("decr", 2, .decr, .keys([.read, .write]), "@string denyoom fast", (1, 1, 1), "Subtracts one."),
    write("incrby", 3, .incrby, .keys([.read, .write]), "@string denyoom fast", (1, 1, 1), "Adds an integer."),
    write("decrby", 3, .decrby, .keys([.read, .write]), "@string denyoom fast", (1, 1, 1), "Subtracts an integer."),
    write("incrbyfloat", 3, .incrbyfloat, .keys([.read, .write]), "@string denyoom fast", (1, 1, 1), "Adds a number."),
  ]

  private static let keys: [Command] = [
    read("exists", -2, .exists, .keys(.read), "@generic fast", (1, -1, 1), "How many of the keys are there."),
    read("touch", -2, .touch, .keys(.read), "@generic fast", (1, -1, 1), "How many of the keys are there."),
    read("keys", 2, .keys, .someKey, "@generic", (0, 0, 0), "The keys that match a pattern."),
    read("scan", -2, .scan, .someKey, "@generic", (0, 0, 0), "Some keys, and where to go on."),
    read("randomkey", 1, .randomkey, .someKey, "@generic", (0, 0, 0), "Any key."),
    read("type", 2, .type, .keys(.read), "@generic fast", (1, 1, 1), "What a value is."),
    read("ttl", 2, .ttl, .keys(.read), "@generic fast", (1, 1, 1), "Seconds that a value lasts."),
    read("pttl", 2, .pttl, .keys(.read), "@generic fast", (1, 1, 1), "Milliseconds that a value lasts."),
    read(
      "expiretime", 2, .expiretime, .keys(.read), "@generic fast", (1, 1, 1),
      "When a value expires, in seconds since 1970."),
    read(
      "pexpiretime", 2, .pexpiretime, .keys(.read), "@generic fast", (1, 1, 1), "When a value expires, in milliseconds."
    ),
    write("del", -2, .del, .keys(.write), "@generic", (1, -1, 1), "Removes keys."),
    write("unlink", -2, .del, .keys(.write), "@generic fast", (1, -1, 1), "Removes keys."),
    write("copy", -3, .copy, .pair(.read, .write), "@generic denyoom", (1, 2, 1), "Stores a value under a second key."),
    write(
      "rename", 3, .rename, .pair([.read, .write], .write), "@generic", (1, 2, 1), "Moves a value to another key."),
    write(
      "renamenx", 3, .renamenx, .pair([.read, .write], .write), "@generic fast", (1, 2, 1),
      "Moves a value to a key that is absent."),
    write("expire", -3, .expire, .expire, "@generic fast", (1, 1, 1), "Sets how many seconds a value lasts."),
    write("pexpire", -3, .pexpire, .expire, "@generic fast", (1, 1, 1), "Sets how many milliseconds a value lasts."),
    write(
      "expireat", -3, .expireat, .expire, "@generic fast", (1, 1, 1),
      "Sets when a value expires, in seconds since 1970."),
    write(
      "pexpireat", -3, .pexpireat, .expire, "@generic fast", (1, 1, 1), "Sets when a value expires, in milliseconds."),
    write("persist", 2, .persist, .keys(.write), "@generic fast", (1, 1, 1), "Lets a value last for ever."),
    write("flushdb", -1, .flushdb, .wholeTable(.admin), "@server", (0, 0, 0), "Removes all keys of the table."),
  ]

  private static let transactions: [Command] = [
    plain("multi", 1, .multi, .free, "@transactions", "Begins a transaction."),
    plain("exec", 1, .exec, .free, "@transactions", "Carries it out, in one barrier."),
    plain("discard", 1, .discard, .free, "@transactions", "Gives it up."),
    plain("watch", -2, .watch, .keys(.read), "@transactions", "Makes it depend on keys.", (1, -1, 1)),
    plain("unwatch", 1, .unwatch, .free, "@transactions", "Makes it depend on none."),
  ]

  private static let channels: [Command] = [
    plain("subscribe", -2, .subscribe, .channels(first: 1), "@pubsub", "Listens to channels."),
    plain("unsubscribe", -1, .unsubscribe, .free, "@pubsub", "Listens no more."),
    plain("psubscribe", -2, .psubscribe, .anyTable(.read), "@pubsub", "Listens to channels that match patterns."),
    plain("punsubscribe", -1, .punsubscribe, .free, "@pubsub", "Listens to patterns no more."),
    plain("publish", 3, .publish, .publish, "@pubsub", "Sends a message to who listens."),
    plain("pubsub", -2, .pubsub, .server, "@pubsub", "Who listens to what."),
  ]

  private static let connection: [Command] = [
    plain("ping", -1, .ping, .free, "@connection", "Answers."),
    plain("echo", 2, .echo, .free, "@connection", "Answers what it was given."),
    plain("hello", -1, .hello, .free, "@connection", "Chooses the version of the protocol."),
    plain("auth", -2, .auth, .free, "@connection", "Accepted for the user 'default'; rights are the socket's."),
    plain("acl", -2, .acl, .free, "@server", "ACL WHOAMI only: who the kernel says the client is."),
    plain("select", 2, .select, .free, "@connection", "Chooses a table by its place in the configuration."),
    plain("client", -2, .client, .server, "@connection", "About connections."),
    plain("reset", 1, .reset, .free, "@connection", "Makes the connection as new."),
    plain("quit", -1, .quit, .free, "@connection", "Ends the connection."),
    plain("command", -1, .command, .free, "@server", "About commands."),
    plain("info", -1, .info, .free, "@server", "About the server."),
    plain("config", -2, .config, .server, "@server", "Settings that clients ask for."),
    plain("time", 1, .time, .free, "@server", "The time of day."),
    plain("dbsize", 1, .dbsize, .wholeTable(.read), "@server", "How many keys the table has."),
    plain("flushall", -1, .flushall, .server, "@server", "Removes all keys of all tables, one after the other."),
    plain("save", 1, .save, .server, "@server", "Accepted: shmd keeps tables by itself."),
    plain("bgsave", -1, .bgsave, .server, "@server", "Accepted: shmd keeps tables by itself."),
    plain("lastsave", 1, .lastsave, .server, "@server", "The time at which the server began."),
    plain("shutdown", -1, .shutdown, .server, "@server", "Refused: an administrator stops shmd."),
    plain("wait", 3, .wait, .free, "@generic", "Answers 0 at once: there are no replicas."),
    plain("waitaof", 4, .waitaof, .free, "@generic", "Waits until what the connection stored is on the disk."),
    plain("function", -2, .function, .server, "@scripting", "FUNCTION FLUSH only: there are no functions."),
  ]

  private static func read(
    _ name: String, _ arity: Int, _ command: ReadCommand, _ access: CommandAccess, _ words: String,
    _ keys: (Int, Int, Int), _ summary: String
  ) -> Command { make(name, arity, .read(command), access, "readonly", words, keys, summary) }

  private static func write(
    _ name: String, _ arity: Int, _ command: WriteCommand, _ access: CommandAccess, _ words: String,
    _ keys: (Int, Int, Int), _ summary: String
  ) -> Command { make(name, arity, .write(command), access, "write", words, keys, summary) }

  private static func plain(
    _ name: String, _ arity: Int, _ command: ConnectionCommand, _ access: CommandAccess, _ group: String,
    _ summary: String,
    _ keys: (Int, Int, Int) = (0, 0, 0)
  ) -> Command {
    let first = group == "@pubsub" ? "pubsub" : "loading"
    let others = group == "@pubsub" ? "\(group) loading stale fast" : "\(group) stale fast"
    return make(name, arity, .connection(command), access, first, others, keys, summary)
  }

  private static func make(
    _ name: String, _ arity: Int, _ kind: Command.Kind, _ access: CommandAccess, _ flag: String, _ words: String,
    _ keys: (Int, Int, Int), _ summary: String
  ) -> Command {
    let words = words.split(separator: " ").map(String.init)
    return Command(
      name: name, arity: arity, kind: kind, access: access, flags: [flag] + words.dropFirst(),
      keys: (keys.0, keys.1, keys.2),
      summary: summary, group: String(words[0].dropFirst()))
  }
}
