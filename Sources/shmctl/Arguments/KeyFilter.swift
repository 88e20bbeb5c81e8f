import ArgumentParser
import SharedTable
import ToolSupport

/// Which keys of a table a command is about.
struct KeyFilter: ParsableArguments {
  @Option(name: .customLong("prefix"), help: ArgumentHelp("Only keys that begin with this.", valueName: "prefix"))
  var prefixOption: RawArgument?

  @Option(
    help: ArgumentHelp(
      "Only keys that match: * for any characters, ? for one, [a-z] for one of these, \\ before one that is meant.",
      valueName: "pattern"))
  var glob: RawArgument?

  @Argument(help: "Only keys that begin with this.")
  var prefix: RawArgument?

  func validate() throws {
    if prefix != nil, prefixOption != nil {
      throw ValidationError("the prefix is given twice, as the argument and by --prefix")
    }
  }

  /// What the keys begin with; of a pattern, what stands before its first special character.
  var wantedPrefix: [UInt8] {
    (prefix ?? prefixOption)?.bytes ?? glob.map { GlobPattern($0.bytes).literalPrefix } ?? []
  }

  /// Nil where every key with the prefix is meant.
  var pattern: GlobPattern? { glob.map { GlobPattern($0.bytes) } }
}

extension Table {
  /// Calls `body` for parts of the keys one after the other, each copied out of a section of its own: what `body` does holds
  /// up nobody, and needs no more memory than a part.
  func forEachPart<Element>(
    of filter: KeyFilter,
    _ element: (_ key: [UInt8], _ entry: borrowing EntryView, _ view: borrowing ReadView) throws -> Element,
    _ body: ([Element]) throws -> Bool
  ) throws {
    let (prefix, pattern) = (filter.wantedPrefix, filter.pattern)
    var cursor = KeyCursor()
    while !cursor.isAtEnd {
      let part = try read { view in
        var part: [Element] = []
        try view.forEach(from: &cursor, prefix: prefix) { key, entry in
          let key = unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }
          if pattern?.matches(key) ?? true { part.append(try element(key, entry, view)) }
        }
        return part
      }
      if !part.isEmpty, try !body(part) { return }
    }
  }
}
