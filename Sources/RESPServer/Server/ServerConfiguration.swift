/// What CONFIG GET tells and CONFIG SET takes: the few settings that clients ask for. shmd's own are in its file.
struct ServerConfiguration: Sendable {
  /// Which changes of the tables are published.
  private(set) var notifications = NotificationFlags()

  /// In the order in which they are told.
  func values(_ options: ServerOptions, tables: Int) -> [(name: String, value: String)] {
    [
      ("appendonly", "no"), ("databases", "\(tables)"), ("maxclients", "\(options.mostClients)"), ("maxmemory", "0"),
      ("maxmemory-policy", "noeviction"), ("notify-keyspace-events", notifications.text),
      ("proto-max-bulk-len", "\(options.frames.argument)"), ("save", ""), ("timeout", "0"),
    ]
  }

  mutating func set(_ sent: [UInt8], _ value: String) throws(CommandError) {
    let name = sent.withBytes { $0.lowercased }
    switch name {
    case "notify-keyspace-events":
      guard let flags = NotificationFlags(value) else {
        throw CommandError(
          "ERR CONFIG SET failed (possibly related to argument 'notify-keyspace-events') - Invalid event class character. "
            + "Use 'Ag$lshzxeKEtmdn'.")
      }
      notifications = flags
    case "save" where value.isEmpty, "appendonly" where value == "no", "timeout" where value == "0": break
    case "appendonly", "save", "databases", "maxclients", "maxmemory", "maxmemory-policy", "proto-max-bulk-len",
      "timeout":
      throw CommandError(
        "ERR CONFIG SET failed (possibly related to argument '\(name)') - can't set immutable config; shmd's "
          + "configuration file says how tables are kept")
    default:
      throw sent.withBytes {
        CommandError("ERR Unknown option or number of arguments for CONFIG SET - '", quoting: $0, "'")
      }
    }
  }
}

/// `notify-keyspace-events`.
struct NotificationFlags: Sendable, Equatable {
  /// `__keyspace@N__:key`.
  var keyspace = false
  /// `__keyevent@N__:event`.
  var keyevent = false
  /// The letters of classes, `A` written out.
  private var classes = ""

  private static let all = "g$lshzxetd"

  init() {}

  init?(_ text: String) {
    for letter in text {
      switch letter {
      case "K": keyspace = true
      case "E": keyevent = true
      case "A": classes += Self.all
      case _ where (Self.all + "mn").contains(letter): classes.append(letter)
      default: return nil
      }
    }
  }

  /// A stored value is told with the class of strings, a removed one with that of all commands.
  func admits(_ letter: Character) -> Bool { (keyspace || keyevent) && classes.contains(letter) }
  var isOn: Bool { admits("$") || admits("g") }

  var text: String {
    let kept = Self.all.allSatisfy(classes.contains) ? "A" : Self.all.filter(classes.contains)
    return kept + (keyspace ? "K" : "") + (keyevent ? "E" : "") + "mn".filter(classes.contains)
  }
}
