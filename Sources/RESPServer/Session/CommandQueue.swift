/// What MULTI has gathered.
struct CommandQueue {
  /// More bytes than this are not kept for one client.
  static let mostBytes = 64 << 20

  struct Entry {
    let command: Command
    let request: RetainedRequest
  }

  private(set) var entries: [Entry] = []
  private(set) var bytes = 0
  /// A command was refused: EXEC will be.
  var isSpoiled = false

  var hasRoom: Bool { bytes <= Self.mostBytes }

  mutating func append(_ command: Command, _ request: Request) {
    let retained = request.retained
    bytes += retained.bytes.count + retained.ranges.count * 8 + 128
    entries.append(Entry(command: command, request: retained))
  }

  /// Whether a read section will do. Of the connection's own commands those will, that touch nothing.
  var onlyReads: Bool {
    entries.allSatisfy { entry in
      switch entry.command.kind {
      case .read, .connection(.dbsize), .connection(.ping), .connection(.echo), .connection(.time): true
      case .connection, .write: false
      }
    }
  }

  /// Whether it may be begun again after it was undone.
  var isRepeatable: Bool { entries.allSatisfy { if case .connection = $0.command.kind { false } else { true } } }

  /// Whether all of it can be drafted, more than once: what it does besides would be done each time.
  var isForwardable: Bool {
    entries.allSatisfy { entry in
      switch entry.command.kind {
      case .read, .write, .connection(.flushall), .connection(.dbsize): true
      case .connection: false
      }
    }
  }
}

struct WatchedName: Hashable {
  /// Its place.
  let database: Int
  let key: [UInt8]
}

/// A key on which EXEC depends.
struct WatchedKey {
  /// About so much memory is taken by a watched key besides its bytes: the array that holds them, this value, and the places of the key in the
  /// set of names and among the absent keys.
  static let bytesBesideName = 150

  let database: Database
  /// Of the database's, in which the key has been seen.
  let generation: UInt64
  let key: [UInt8]
  /// 0: it was absent.
  let version: UInt64
}
