import SharedTable
import TableDump
import ToolSupport

/// One line of `batch` or `transaction`.
enum Operation {
  case set(OwnedRecord, ttl: TimeSpan?, Requirement?)
  case delete([UInt8])
  case increment([UInt8], Int)
  case append([UInt8], [UInt8])
  case expire([UInt8], TimeSpan)
  case persist([UInt8])
  case rename([UInt8], [UInt8])
  case check([UInt8], Requirement)

  /// Some 285 years: added to the clock's nanoseconds, more would not fit into an expiry time.
  static let mostMillisecondsToLive = 9_000_000_000_000

  /// What must hold of a key.
  enum Requirement: Equatable {
    case absent
    case present
    case version(UInt64)
    case value([UInt8])
  }

  enum Outcome: Equatable {
    case done
    /// A key that is not there, or a condition that is not met: nothing was changed.
    case unmet
    case sum(Int)

    var text: String {
      switch self {
      case .done: "done"
      case .unmet: "unmet"
      case .sum(let sum): String(sum)
      }
    }

    func line(json: Bool) -> [UInt8] {
      guard json else { return Array("\(text)\n".utf8) }
      var object = JSONObject()
      object.add("outcome", self == .unmet ? "unmet" : "done")
      if case .sum(let sum) = self { object.add("value", sum) }
      return object.line
    }
  }

  /// Keys that it stores or removes.
  var changedKeys: [[UInt8]] {
    switch self {
    case .set(let record, _, _): [record.key]
    case .delete(let key), .increment(let key, _), .append(let key, _), .expire(let key, _), .persist(let key): [key]
    case .rename(let key, let name): [key, name]
    case .check: []
    }
  }

  /// - Throws: `typeMismatch` if it would change a key that belongs to a collection.
  func checkCollections(in tx: borrowing Transaction) throws(TableError) {
    for key in changedKeys {
      guard let collection = try tx.collection(of: key) else { continue }
      throw TableError(.typeMismatch, table: "*", KeyChange.reason(of: key, collection))
    }
  }

  func run(in tx: inout Transaction) throws(TableError) -> Outcome {
    switch self {
    case .set(let record, let ttl, let requirement):
      if let requirement, try !requirement.holds(record.key, in: tx) { return .unmet }
      try tx.store(record, ttl)
      return .done
    case .delete(let key): return try tx.remove(key) ? .done : .unmet
    case .increment(let key, let amount): return .sum(try tx.increment(key, by: amount))
    case .append(let key, let value):
      try tx.store(try OwnedRecord(appending: value, to: tx.record(key), key, table: "*"))
      return .done
    case .expire(let key, let ttl):
      guard let record = try tx.record(key) else { return .unmet }
      try tx.store(record, ttl)
      return .done
    case .persist(let key):
      guard var record = try tx.record(key) else { return .unmet }
      record.expiry = 0
      try tx.store(record)
      return .done
    case .rename(let key, let name):
      guard var record = try tx.record(key) else { return .unmet }
      try tx.remove(key)
      record.key = name
      try tx.store(record)
      return .done
    case .check(let key, let requirement): return try requirement.holds(key, in: tx) ? .done : .unmet
    }
  }
}

extension Operation.Requirement {
  fileprivate func holds(_ key: [UInt8], in tx: borrowing Transaction) throws(TableError) -> Bool {
    switch self {
    case .absent: try !tx.contains(key)
    case .present: try tx.contains(key)
    case .version(let version): try tx.entry(forKey: key)?.version == version
    case .value(let value): try tx.entry(forKey: key)?.text == value
    }
  }
}

extension OwnedRecord {
  /// A record with bytes behind its value; its type and expiry stay.
  /// - Throws: `typeMismatch` if it is no string and no bytes, or a string that would be none any more.
  /// - Parameters:
  ///   - record: nil: there is none yet.
  ///   - table: for the error.
  init(appending value: [UInt8], to record: OwnedRecord?, _ key: [UInt8], table: String) throws(TableError) {
    guard let record else {
      self.init(key: key, plain: value)
      return
    }
    func refusal(_ what: String) -> TableError {
      TableError(.typeMismatch, table: table, "the value of '\(String.printableStart(key))' \(what); set it anew")
    }
    guard let type = record.type, type == .string || type == .bytes, !record.isOpaque else {
      throw refusal("is of type \(record.type?.name ?? "unknown"), which nothing can be added to")
    }
    self.init(key: key, value: record.value + value, type: type)
    guard type == .bytes || String(validating: self.value, as: UTF8.self) != nil else {
      throw refusal("is a string, and with this behind it no UTF-8 any more")
    }
    expiry = record.expiry
  }

  /// A string if the bytes are UTF-8, else bytes.
  init(key: [UInt8], plain value: [UInt8]) {
    self.init(key: key, value: value, type: String(validating: value, as: UTF8.self) == nil ? .bytes : .string)
  }
}

extension Transaction {
  fileprivate mutating func store(_ record: OwnedRecord, _ ttl: TimeSpan?) throws(TableError) {
    var record = record
    if let ttl { record.expiry = now + UInt64(min(ttl.milliseconds, Operation.mostMillisecondsToLive)) * 1_000_000 }
    try store(record)
  }
}
