import SharedTable

enum NumberWrites {
  static func amount(_ argument: Bytes) throws(CommandError) -> Int {
    guard let amount = argument.integer else { throw .notAnInteger }
    return amount
  }

  /// The sum is stored as the table's integer, on which programs and counters go on; its expiry stays.
  static func add<S: WriteSection & ~Copyable & ~Escapable>(
    _ amount: Int, _ key: Bytes, _ tx: inout S, _ reply: inout Reply
  ) throws {
    let old = try tx.text(key)
    var number = 0
    if let old {
      guard let parsed = old.text.withBytes({ $0.integer }) else { throw CommandError.notAnInteger }
      number = parsed
    }
    let (sum, overflow) = number.addingReportingOverflow(amount)
    if overflow { throw CommandError.overflow }
    try tx.set(key, sum, expires: Expiration(at: old?.expiry))
    reply.integer(sum)
  }

  /// A double stays a double, for the programs that read it; everything else becomes text of all its digits.
  static func addFloat<S: WriteSection & ~Copyable & ~Escapable>(
    _ request: Request, _ tx: inout S, _ reply: inout Reply
  ) throws {
    let key = request[1]
    let old = try tx.text(key)
    guard let number = old.map({ Float80Text.parse($0.text) }) ?? 0, let amount = Float80Text.parse(request[2].array)
    else { throw CommandError.notAFloat }
    let sum = number + amount
    guard sum.isFinite, old?.type != .double || Double(sum).isFinite else {
      throw CommandError("ERR increment would produce NaN or Infinity")
    }
    let text = Float80Text.decimal(sum)
    if old?.type == .double {
      try tx.set(key, Double(sum), expires: Expiration(at: old?.expiry))
    } else {
      try tx.store(key, Array(text.utf8), expiry: old?.expiry)
    }
    reply.bulk(text)
  }
}
