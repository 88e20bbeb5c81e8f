import SharedTable

extension WriteCommand {
  /// Carries it out in a barrier, or on a draft. If it throws, what it had changed is taken back.
  func run<S: WriteSection & ~Copyable & ~Escapable>(
    _ request: Request, _ tx: inout S, _ reply: inout Reply
  ) throws {
    try refuseCollections(request, tx)
    switch self {
    case .set: try StringWrites.set(request, &tx, &reply)
    case .setnx:
      let isNew = try !tx.contains(request[1])
      if isNew { try tx.store(request[1], request[2], expiry: nil) }
      reply.integer(isNew ? 1 : 0)
    case .setex: try StringWrites.setWithExpiry(request, unit: 1000, &tx, &reply)
    case .psetex: try StringWrites.setWithExpiry(request, unit: 1, &tx, &reply)
    case .getset:
      try reply.text(try tx.text(request[1])?.text)
      try tx.store(request[1], request[2], expiry: nil)
    case .getdel:
      let old = try tx.text(request[1])
      try reply.text(old?.text)
      if old != nil { _ = try unsafe tx.take(request[1].raw) }
    case .getex: try StringWrites.getex(request, &tx, &reply)
    case .mset:
      if request.count % 2 == 0 { throw CommandError.arity(request.name) }
      try tx.withSavepoint { tx in try StringWrites.storePairs(request, &tx) }
      reply.ok()
    case .msetnx: try StringWrites.msetnx(request, &tx, &reply)
    case .append: try StringWrites.append(request, &tx, &reply)
    case .setrange: try StringWrites.setrange(request, &tx, &reply)
    case .incr: try NumberWrites.add(1, request[1], &tx, &reply)
    case .decr: try NumberWrites.add(-1, request[1], &tx, &reply)
    case .incrby: try NumberWrites.add(try NumberWrites.amount(request[2]), request[1], &tx, &reply)
    case .decrby:
      let amount = try NumberWrites.amount(request[2])
      if amount == .min { throw CommandError("ERR decrement would overflow") }
      try NumberWrites.add(-amount, request[1], &tx, &reply)
    case .incrbyfloat: try NumberWrites.addFloat(request, &tx, &reply)
    case .del where request.count == 2: reply.integer(try unsafe tx.take(request[1].raw) ? 1 : 0)
    case .del:
      reply.integer(
        try tx.withSavepoint { tx throws(TableError) in
          var removed = 0
          for index in 1..<request.count where try unsafe tx.take(request[index].raw) { removed += 1 }
          return removed
        })
    case .copy: try KeyWrites.copy(request, &tx, &reply)
    case .rename: try KeyWrites.rename(request, &tx, &reply)
    case .renamenx: try KeyWrites.renamenx(request, &tx, &reply)
    case .expire: try KeyWrites.expire(request, unit: 1000, isRelative: true, &tx, &reply)
    case .pexpire: try KeyWrites.expire(request, unit: 1, isRelative: true, &tx, &reply)
    case .expireat: try KeyWrites.expire(request, unit: 1000, isRelative: false, &tx, &reply)
    case .pexpireat: try KeyWrites.expire(request, unit: 1, isRelative: false, &tx, &reply)
    case .persist: try KeyWrites.persist(request[1], &tx, &reply)
    case .flushdb:
      try KeyWrites.checkFlush(request)
      _ = try tx.withSavepoint { tx in try tx.removeAll(most: .max) }
      reply.ok()
    }
  }
}

extension WriteSection where Self: ~Copyable & ~Escapable {
  /// Stores what a client sent: as a string if it is UTF-8, so that programs read it as their strings; else as bytes.
  /// - Parameter expiry: nanoseconds since 1970; nil for never.
  mutating func store(_ key: Bytes, _ value: Bytes, expiry: UInt64?) throws(TableError) {
    try unsafe put(key.raw, value.raw, UTF8Check.isValid(value) ? .string : .bytes, expiry: expiry)
  }

  mutating func store(_ key: Bytes, _ value: [UInt8], expiry: UInt64?) throws {
    try value.withBytes { value in try store(key, value, expiry: expiry) }
  }
}

extension Reply {
  mutating func text(_ text: [UInt8]?) throws(CommandError) {
    guard let text else { return null() }
    try room(for: text.count)
    bulk(text)
  }
}
