import SharedTable
import ToolSupport

/// Keys that were asked for and are not there.
struct Misses {
  private(set) var isEmpty = true

  mutating func add(_ key: [UInt8], _ options: CommonOptions, _ table: Table, _ what: String? = nil) {
    isEmpty = false
    options.note(table, "no key '\(String.printableStart(key))'; \(what ?? options.suggestion(for: key, in: table))")
  }

  /// Ends the command with status 1 if there were any.
  func end() throws { if !isEmpty { throw ExitStatus.notFound } }
}

extension [KeyWords] {
  /// Does the same to each key, and goes on after one that is not there: that ends the command with status 1 at last.
  ///
  /// - Parameters:
  ///   - missing: what to say of a key that is not there; nil: which there is that is like it.
  ///   - find: what there is of each of the keys that came together, in one section or barrier.
  ///   - isThere: whether that is anything.
  ///   - text: what to print of it, after the section.
  func forEach<Found>(
    zeroTerminated: Bool, _ options: CommonOptions, _ table: Table, missing: String? = nil,
    find: ([[UInt8]]) throws -> [Found], isThere: (Found) -> Bool, text: ([UInt8], Found) -> [UInt8]
  ) throws {
    var misses = Misses()
    var output = OutputBuffer()
    try forEachBatch(zeroTerminated: zeroTerminated) { batch in
      let keys = batch.arrays
      for (key, found) in zip(keys, try find(keys)) {
        if !isThere(found) { misses.add(key, options, table, missing) }
        try output.append(text(key, found))
      }
      try output.flush()
    }
    try misses.end()
  }

  /// As ``forEach(zeroTerminated:_:_:missing:find:isThere:text:)``, where all there is to say of a key is yes or no: with `--json` under the name
  /// `field`, else by the exit status.
  func forEach(
    zeroTerminated: Bool, _ options: CommonOptions, _ table: Table, missing: String? = nil, field: String,
    find: ([[UInt8]]) throws -> [Bool]
  ) throws {
    try forEach(zeroTerminated: zeroTerminated, options, table, missing: missing, find: find) {
      $0
    } text: { key, found in
      guard options.json else { return [] }
      var object = JSONObject()
      object.add("key", bytes: key)
      object.add(field, found)
      return object.line
    }
  }
}
