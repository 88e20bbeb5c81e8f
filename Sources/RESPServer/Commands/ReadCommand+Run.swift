import SharedTable

extension ReadCommand {
  /// Carries it out; if it throws, what it has begun to answer is taken back by the caller.
  /// - Parameter visible: by which keys are shown that are no arguments; nil for all.
  func run<S: Section & ~Copyable & ~Escapable>(
    _ request: Request, _ section: borrowing S, _ reply: inout Reply, visible: TableAccess?
  ) throws {
    switch self {
    case .get: try Reads.get(request[1], section, &reply)
    case .mget: try Reads.mget(request, section, &reply)
    case .strlen: reply.integer(try section.text(request[1])?.text.count ?? 0)
    case .getrange: try Reads.getrange(request, section, &reply)
    case .lcs: try LongestCommonSubsequence(request).answer(section, &reply)
    case .exists, .touch: reply.integer(try (1..<request.count).count { try section.contains(request[$0]) })
    case .keys: try Reads.keys(request[1].array, section, &reply, visible)
    case .scan: try ScanRequest(request).answer(section, &reply, visible)
    case .randomkey: try Reads.randomkey(section, &reply, visible)
    case .type: reply.simple(try Reads.type(request[1], section))
    case .ttl: reply.integer(try Reads.left(request[1], section).map { $0 < 0 ? $0 : ($0 + 500) / 1000 } ?? -2)
    case .pttl: reply.integer(try Reads.left(request[1], section) ?? -2)
    case .expiretime:
      reply.integer(try Reads.expiry(request[1], section).map { $0 < 0 ? $0 : ($0 + 500) / 1000 } ?? -2)
    case .pexpiretime: reply.integer(try Reads.expiry(request[1], section) ?? -2)
    }
  }
}

extension Section where Self: ~Copyable & ~Escapable {
  /// A value that commands of strings take.
  func text(_ key: Bytes) throws -> StoredValue? {
    guard let value = try value(key) else { return nil }
    guard value.isText else { throw CommandError.wrongType }
    return value
  }
}

extension StoredValue {
  /// Structs, collections among them, and types that a later release may bring are no strings.
  var isText: Bool { Self.isText(type) }

  static func isText(_ type: ValueType?) -> Bool { type != nil && type != .structure }
}

private enum Reads {
  static func get<S: Section & ~Copyable & ~Escapable>(
    _ key: Bytes, _ section: borrowing S, _ reply: inout Reply
  ) throws {
    var failure: CommandError?
    let isThere = try unsafe section.look(key.raw) { entry in
      guard StoredValue.isText(entry.type) else { return failure = .wrongType }
      do throws(CommandError) { try reply.value(entry) } catch { failure = error }
    }
    if let failure { throw failure }
    if !isThere { reply.null() }
  }

  static func mget<S: Section & ~Copyable & ~Escapable>(
    _ request: Request, _ section: borrowing S, _ reply: inout Reply
  ) throws {
    reply.array(request.count - 1)
    for index in 1..<request.count {
      let start = reply.position
      do { try get(request[index], section, &reply) } catch let error as CommandError where error == .wrongType {
        reply.rollBack(to: start)
        reply.null()
      }
    }
  }

  static func getrange<S: Section & ~Copyable & ~Escapable>(
    _ request: Request, _ section: borrowing S, _ reply: inout Reply
  ) throws {
    guard var start = request[2].integer, var end = request[3].integer else { throw CommandError.notAnInteger }
    guard let text = try section.text(request[1])?.text, !text.isEmpty else { return reply.bulk([]) }
    if start < 0, end < 0, start > end { return reply.bulk([]) }
    if start < 0 { start = max(0, start + text.count) }
    if end < 0 { end = max(0, end + text.count) }
    end = min(end, text.count - 1)
    if start > end { return reply.bulk([]) }
    try reply.room(for: end - start + 1)
    reply.bulk(Array(text[start...end]))
  }

  static func keys<S: Section & ~Copyable & ~Escapable>(
    _ pattern: [UInt8], _ section: borrowing S, _ reply: inout Reply, _ visible: TableAccess?
  ) throws {
    var found: [[UInt8]] = []
    var bytes = 0
    let limit = reply.limit
    let glob = try Glob(ofKeys: pattern)
    try section.forEachKey { key in
      if glob.matches(key), visible?.mayRead(key) ?? true {
        found.append(key.array)
        bytes += key.count + 32
      }
      return bytes <= limit
    }
    try reply.room(for: bytes)
    reply.array(found.count)
    for key in found { reply.bulk(key) }
  }

  static func randomkey<S: Section & ~Copyable & ~Escapable>(
    _ section: borrowing S, _ reply: inout Reply, _ visible: TableAccess?
  ) throws {
    // From anywhere to the end, and then from the beginning.
    for start in [UInt64.random(in: 1 ... .max), 0] {
      var cursor = start
      repeat {
        var chosen: [UInt8]?
        var seen = 0
        cursor = unsafe try section.scan(from: cursor) { key, _ in
          if let visible, unsafe !visible.mayRead(Bytes(key)) { return true }
          seen += 1
          if Int.random(in: 0..<seen) == 0 { chosen = unsafe [UInt8](key) }
          return true
        }
        if let chosen { return reply.bulk(chosen) }
      } while cursor != 0
    }
    reply.null()
  }

  static func type<S: Section & ~Copyable & ~Escapable>(_ key: Bytes, _ section: borrowing S) throws -> String {
    var name = "none"
    _ = try unsafe section.look(key.raw) { name = StoredValue.isText($0.type) ? "string" : $0.type?.name ?? "unknown" }
    return name
  }

  /// Milliseconds since 1970 at which a value expires; -1 for never; nil if there is none.
  static func expiry<S: Section & ~Copyable & ~Escapable>(_ key: Bytes, _ section: borrowing S) throws -> Int? {
    var result: Int?
    _ = try unsafe section.look(key.raw) { result = $0.expiry.map { Int($0 / 1_000_000) } ?? -1 }
    return result
  }

  /// Milliseconds that a value lasts; -1 for ever; nil if there is none.
  static func left<S: Section & ~Copyable & ~Escapable>(_ key: Bytes, _ section: borrowing S) throws -> Int? {
    guard let end = try expiry(key, section) else { return nil }
    return end < 0 ? -1 : max(0, end - Int(section.now / 1_000_000))
  }
}
