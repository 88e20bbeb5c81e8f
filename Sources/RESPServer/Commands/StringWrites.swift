import SharedTable

enum StringWrites {
  /// The longest string that commands make, as in Redis; a table may take less.
  static let longest = 512 << 20

  static func set<S: WriteSection & ~Copyable & ~Escapable>(
    _ request: Request, _ tx: inout S, _ reply: inout Reply
  ) throws {
    let key = request[1]
    guard request.count > 3 else {
      try tx.store(key, request[2], expiry: nil)
      return reply.ok()
    }
    let options = try SetOptions(request, from: 3, isRead: false)
    var expiry: UInt64?
    if case .time(let argument, let unit, let isRelative) = options.expiry {
      expiry = Instant.nanoseconds(
        try Instant.parse(argument, of: request, unit: unit, isRelative: isRelative, now: tx.now))
    }
    let old = try tx.value(key)
    if options.answersOld, let old, !old.isText { throw CommandError.wrongType }
    if options.expiry == .keep { expiry = old?.expiry }
    if options.answersOld { try reply.text(old?.text) }
    let isRefused = options.onlyIfAbsent && old != nil || options.onlyIfPresent && old == nil
    if !isRefused { try tx.store(key, request[2], expiry: expiry) }
    if options.answersOld { return }
    if isRefused {
      reply.null()
    } else {
      reply.ok()
    }
  }

  static func setWithExpiry<S: WriteSection & ~Copyable & ~Escapable>(
    _ request: Request, unit: Int, _ tx: inout S, _ reply: inout Reply
  ) throws {
    let end = try Instant.parse(2, of: request, unit: unit, isRelative: true, now: tx.now)
    try tx.store(request[1], request[3], expiry: Instant.nanoseconds(end))
    reply.ok()
  }

  static func getex<S: WriteSection & ~Copyable & ~Escapable>(
    _ request: Request, _ tx: inout S, _ reply: inout Reply
  ) throws {
    let key = request[1]
    let options = try SetOptions(request, from: 2, isRead: true)
    guard let value = try tx.text(key) else { return reply.null() }
    try reply.text(value.text)
    switch options.expiry {
    case .time(let argument, let unit, let isRelative):
      let end = try Instant.parse(argument, of: request, unit: unit, isRelative: isRelative, now: tx.now)
      try KeyWrites.setExpiry(key, Instant.nanoseconds(end), &tx)
    case .persist where value.expiry != nil:
      _ = try unsafe tx.copy(key.raw, to: key.raw, expiry: nil)
    default: break
    }
  }

  static func storePairs<S: WriteSection & ~Copyable & ~Escapable>(_ request: Request, _ tx: inout S) throws {
    for index in stride(from: 1, to: request.count, by: 2) {
      try tx.store(request[index], request[index + 1], expiry: nil)
    }
  }

  static func msetnx<S: WriteSection & ~Copyable & ~Escapable>(
    _ request: Request, _ tx: inout S, _ reply: inout Reply
  ) throws {
    if request.count % 2 == 0 { throw CommandError.arity(request.name) }
    for index in stride(from: 1, to: request.count, by: 2) where try tx.contains(request[index]) {
      return reply.integer(0)
    }
    try tx.withSavepoint { tx in try storePairs(request, &tx) }
    reply.integer(1)
  }

  static func append<S: WriteSection & ~Copyable & ~Escapable>(_ request: Request, _ tx: inout S, _ reply: inout Reply)
    throws
  {
    let old = try tx.text(request[1])
    var text = old?.text ?? []
    if text.count + request[2].count > longest { throw CommandError.tooLong }
    unsafe text.append(contentsOf: request[2].raw)
    try tx.store(request[1], text, expiry: old?.expiry)
    reply.integer(text.count)
  }

  static func setrange<S: WriteSection & ~Copyable & ~Escapable>(
    _ request: Request, _ tx: inout S, _ reply: inout Reply
  ) throws {
    guard let offset = request[2].integer else { throw CommandError.notAnInteger }
    guard offset >= 0 else { throw CommandError("ERR offset is out of range") }
    let part = request[3]
    let old = try tx.text(request[1])
    guard !part.isEmpty else { return reply.integer(old?.text.count ?? 0) }
    guard offset <= longest - part.count else { throw CommandError.tooLong }
    var text = old?.text ?? []
    // Before room for it is made: a table takes less than Redis would.
    let length = max(text.count, offset + part.count)
    try KeyWrites.checkLength(length, tx)
    text.append(contentsOf: repeatElement(0, count: length - text.count))
    unsafe text.replaceSubrange(offset..<offset + part.count, with: part.raw)
    try tx.store(request[1], text, expiry: old?.expiry)
    reply.integer(length)
  }
}
