import ArgumentParser
import SharedTable
import ToolSupport

struct Del: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "del", abstract: "Remove keys, those of the command line in one barrier.",
    discussion: """
      Exit 1 if any was not found; those found are removed all the same. A key '-' stands for keys on standard input, \
      which are removed some thousands in a barrier, fewer in a full table.

      --prefix removes all keys that begin with something, a thousand in a barrier at most. On a terminal it asks first. In a \
      script it removes without asking; only an empty prefix needs --yes. A key that belongs to a collection is refused without --force, and no \
      other is removed then. With --force a collection's own name takes its elements with it.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(name: .customShort("0"), help: "Keys on standard input end with a zero byte.")
  var null = false

  @Option(help: ArgumentHelp("Remove all keys that begin with this.", valueName: "prefix"))
  var prefix: RawArgument?

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @Flag(help: "Also keys that belong to a collection.")
  var force = false

  @Argument(help: ArgumentHelp("Keys, or - for those on standard input.", valueName: "key"))
  var keys: [KeyWords] = []

  func validate() throws {
    if keys.isEmpty, prefix == nil { throw ValidationError("Missing expected argument '<key> ...'") }
    if !keys.isEmpty, prefix != nil { throw ValidationError("give keys or --prefix, not both") }
  }

  func run(on table: Table) throws {
    if let prefix { return try remove(prefix, from: table) }
    let areFromInput = keys.allSatisfy { $0.keys == nil }
    try keys.forEach(zeroTerminated: null, options, table, missing: "nothing to remove", field: "removed") { keys in
      let change = KeyChange(table, force: force)
      return areFromInput ? try change.runInParts(keys, remove) : try change.run(keys) { tx in try remove(keys, &tx) }
    }
  }

  /// - Returns: which of them were there.
  private func remove(_ keys: [[UInt8]], _ tx: inout Transaction) throws -> [Bool] {
    var removed: [Bool] = []
    for key in keys {
      if force { try removeElements(of: key, &tx) }
      removed.append(try tx.remove(key))
    }
    return removed
  }

  /// Elements without the header that counts them would be of no use to anybody.
  private func removeElements(of key: [UInt8], _ tx: inout Transaction) throws {
    guard let collection = try tx.collection(of: key), collection.isHeader else { return }
    for separator in "/#".utf8 {
      for element in try tx.keys(prefix: key + [separator]) { try tx.remove(element) }
    }
  }

  // MARK: - By prefix

  private static let keysInABarrier = 1000

  private func remove(_ prefix: RawArgument, from table: Table) throws {
    let keys = try table.read { view in try view.keys(prefix: prefix.bytes) }
    guard !keys.isEmpty else {
      options.note(table, "no key begins with '\(prefix.shown)'; nothing to remove")
      if options.json { try printCount(0) }
      throw ExitStatus.notFound
    }
    if !force { try refuseCollections(among: keys, in: table) }
    try confirm(keys.count, prefix, table)
    let headers = force ? try self.headers(among: keys, of: table) : []
    // Those go last, with what programs have added to their collections meanwhile: nobody would find that without its header. Where all keys
    // are few they go together, so that nobody sees a part of a collection.
    let last = keys.count > Self.keysInABarrier ? [[UInt8]](headers) : headers.isEmpty ? [] : keys
    let first = last.count == keys.count ? [] : keys.filter { !headers.contains($0) }
    var count = 0
    try forEachPart(of: first) { part in
      count += try KeyChange(table, force: force).runInParts(part) { keys, tx in try keys.map { try tx.remove($0) } }
        .count(where: \.self)
    }
    try forEachPart(of: last) { part in
      let names = headers.intersection(part)
      count += try KeyChange(table, force: true).run(part) { tx in
        let added = try tx.keys(prefix: prefix.bytes).filter { key in
          names.contains([UInt8](CollectionMembership.namePart(of: key)))
        }
        return try (added + part).count { try tx.remove($0) }
      }
    }
    if options.json { try printCount(count) }
  }

  private func forEachPart(of keys: [[UInt8]], _ body: ([[UInt8]]) throws -> Void) throws {
    for start in stride(from: 0, to: keys.count, by: Self.keysInABarrier) {
      try body([[UInt8]](keys[start..<min(start + Self.keysInABarrier, keys.count)]))
    }
  }

  /// The keys that are names of collections.
  private func headers(among keys: [[UInt8]], of table: Table) throws -> Swift.Set<[UInt8]> {
    try table.read { view in
      Swift.Set(try keys.filter { try view.collection(of: $0)?.isHeader == true })
    }
  }

  /// Before the first is removed: of all or none.
  private func refuseCollections(among keys: [[UInt8]], in table: Table) throws {
    try table.read { view in
      for key in keys {
        if let collection = try view.collection(of: key) { throw KeyChange.refusal(of: key, collection, table) }
      }
    }
  }

  private func confirm(_ count: Int, _ prefix: RawArgument, _ table: Table) throws {
    if yes { return }
    guard Question.canBeAsked else {
      guard prefix.bytes.isEmpty else { return }
      throw Complaint.usage("an empty prefix is that of every key; give --yes if all are to be removed")
    }
    let keys = count == 1 ? "1 key that begins" : "\(count) keys that begin"
    guard try Question.ask("remove \(keys) with '\(prefix.shown)' from table '\(table.name)'?") else {
      throw Complaint(.notFound, table: table.name, "nothing was removed; answer y to remove them")
    }
  }

  private func printCount(_ count: Int) throws {
    var object = JSONObject()
    object.add("removed", count)
    try StandardOutput.write(object.line)
  }
}
