import SharedTable

enum KeyWrites {
  static func copy<S: WriteSection & ~Copyable & ~Escapable>(_ request: Request, _ tx: inout S, _ reply: inout Reply)
    throws
  {
    var replaces = false
    var index = 3
    while index < request.count {
      if request[index].isWord("REPLACE") {
        replaces = true
      } else if request[index].isWord("DB"), index + 1 < request.count {
        guard request[index + 1].integer != nil else { throw CommandError.notAnInteger }
        throw CommandError("ERR COPY into another table is not supported: no barrier spans two tables")
      } else {
        throw CommandError.syntax
      }
      index += 1
    }
    let (source, target) = (request[1], request[2])
    if source.equals(target) { throw CommandError("ERR source and destination objects are the same") }
    guard let value = try tx.value(source), try replaces || !tx.contains(target) else { return reply.integer(0) }
    _ = try unsafe tx.copy(source.raw, to: target.raw, expiry: value.expiry)
    reply.integer(1)
  }

  static func rename<S: WriteSection & ~Copyable & ~Escapable>(_ request: Request, _ tx: inout S, _ reply: inout Reply)
    throws
  {
    try move(request[1], to: request[2], &tx)
    reply.ok()
  }

  static func renamenx<S: WriteSection & ~Copyable & ~Escapable>(
    _ request: Request, _ tx: inout S, _ reply: inout Reply
  ) throws {
    guard try tx.contains(request[1]) else { throw CommandError.noSuchKey }
    if try tx.contains(request[2]) { return reply.integer(0) }
    try move(request[1], to: request[2], &tx)
    reply.integer(1)
  }

  private static func move<S: WriteSection & ~Copyable & ~Escapable>(_ source: Bytes, to target: Bytes, _ tx: inout S)
    throws
  {
    guard let value = try tx.value(source) else { throw CommandError.noSuchKey }
    if source.equals(target) { return }
    try tx.withSavepoint { tx in
      _ = try unsafe tx.copy(source.raw, to: target.raw, expiry: value.expiry)
      _ = try unsafe tx.take(source.raw)
    }
  }

  static func expire<S: WriteSection & ~Copyable & ~Escapable>(
    _ request: Request, unit: Int, isRelative: Bool, _ tx: inout S, _ reply: inout Reply
  ) throws {
    let condition = try ExpiryCondition(request)
    guard let number = request[2].integer else { throw CommandError.notAnInteger }
    let end = try Instant.milliseconds(number, of: request, unit: unit, isRelative: isRelative, now: tx.now)
    guard let value = try tx.value(request[1]) else { return reply.integer(0) }
    guard condition.admits(end, current: value.expiry.map { Int($0 / 1_000_000) }) else { return reply.integer(0) }
    if end <= 0 {
      _ = try unsafe tx.take(request[1].raw)
    } else {
      try setExpiry(request[1], Instant.nanoseconds(end), &tx)
    }
    reply.integer(1)
  }

  /// A key whose time is over is removed at once, so that who follows the changes hears of it.
  static func setExpiry<S: WriteSection & ~Copyable & ~Escapable>(_ key: Bytes, _ nanoseconds: UInt64, _ tx: inout S)
    throws
  {
    if nanoseconds <= tx.now {
      _ = try unsafe tx.take(key.raw)
    } else {
      _ = try unsafe tx.copy(key.raw, to: key.raw, expiry: nanoseconds)
    }
  }

  static func persist<S: WriteSection & ~Copyable & ~Escapable>(_ key: Bytes, _ tx: inout S, _ reply: inout Reply)
    throws
  {
    guard try tx.value(key)?.expiry != nil else { return reply.integer(0) }
    _ = try unsafe tx.copy(key.raw, to: key.raw, expiry: nil)
    reply.integer(1)
  }

  static func checkFlush(_ request: Request) throws(CommandError) {
    guard request.count == 1 || request.count == 2 && (request[1].isWord("ASYNC") || request[1].isWord("SYNC")) else {
      throw .syntax
    }
  }

  /// What no table takes is refused before memory is spent on it.
  static func checkLength<S: WriteSection & ~Copyable & ~Escapable>(_ length: Int, _ tx: borrowing S)
    throws(CommandError)
  {
    if length > tx.longestValue { throw .tooLong }
  }
}

/// `NX`, `XX`, `GT`, `LT` of the EXPIRE family.
private struct ExpiryCondition {
  private var onlyIfNone = false
  private var onlyIfSome = false
  private var onlyIfLater = false
  private var onlyIfEarlier = false

  init(_ request: Request) throws(CommandError) {
    for index in 3..<max(3, request.count) {
      let option = request[index]
      if option.isWord("NX") {
        onlyIfNone = true
      } else if option.isWord("XX") {
        onlyIfSome = true
      } else if option.isWord("GT") {
        onlyIfLater = true
      } else if option.isWord("LT") {
        onlyIfEarlier = true
      } else {
        throw CommandError("ERR Unsupported option ", quoting: option)
      }
    }
    if onlyIfNone, onlyIfSome || onlyIfLater || onlyIfEarlier {
      throw CommandError("ERR NX and XX, GT or LT options at the same time are not compatible")
    }
    if onlyIfLater, onlyIfEarlier {
      throw CommandError("ERR GT and LT options at the same time are not compatible")
    }
  }

  /// - Parameter current: nil for a value that lasts for ever, which is later than any time.
  func admits(_ end: Int, current: Int?) -> Bool {
    if onlyIfNone, current != nil { return false }
    if onlyIfSome, current == nil { return false }
    if onlyIfLater, current.map({ end <= $0 }) ?? true { return false }
    if onlyIfEarlier, let current, end >= current { return false }
    return true
  }
}
