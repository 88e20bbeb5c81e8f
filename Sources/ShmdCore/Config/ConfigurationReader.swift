import Logging
import SharedTable
import TableEngine
import Yams

/// Reads a configuration and finds all that is wrong with it, each thing with its line.
///
/// It walks the YAML nodes instead of decoding into types, because nodes know their lines and a decoder stops at the
/// first complaint. Unknown keys are complaints: a misspelt one would silently be a default.
public struct ConfigurationReader {
  private let file: String
  var problems: [Problem] = []
  var configuration: Configuration

  private init(file: String) {
    self.file = file
    configuration = Configuration(file: file)
  }

  /// Reads and checks a file. Nothing else is touched.
  /// - Throws: ``Refusal`` with everything that is wrong.
  public static func read(file: String) throws(Refusal) -> Configuration {
    let text: String
    do {
      text = try HostFile.text(of: file)
    } catch {
      throw Refusal([
        Problem(file: file, line: nil, "cannot be read: \(error); name a readable file with --config")
      ])
    }
    return try parse(text, file: file)
  }

  /// The same for a text, named as a file.
  public static func parse(_ text: String, file: String) throws(Refusal) -> Configuration {
    var reader = ConfigurationReader(file: file)
    if let root = reader.compose(text) { reader.readTop(root) }
    if !reader.problems.isEmpty { throw Refusal(reader.problems) }
    return reader.configuration
  }

  // MARK: - YAML

  mutating func compose(_ text: String) -> Node? {
    do {
      if let root = try Yams.compose(yaml: text) { return root }
      complain(1, "the file is empty; write 'tables:' and a list of tables")
    } catch let error as YamlError {
      complain(error, text)
    } catch {
      complain(nil, "is not YAML: \(error)")
    }
    return nil
  }

  mutating func complain(_ error: YamlError, _ text: String) {
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      let where_ = context.map { ", \($0.text) (line \($0.mark.line))" } ?? ""
      complain(mark.line, "is not YAML: \(problem)\(where_)")
    case .reader(let problem, let offset, _, _):
      let line = offset.map { text.prefix($0).split(separator: "\n", omittingEmptySubsequences: false).count }
      complain(line, "is not YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, let context):
      let names = keys.map { "'\($0)'" }.joined(separator: ", ")
      complain(context.mark.line, "\(names) given twice in one mapping; keep one")
    default:
      complain(nil, "is not YAML: \(error)")
    }
  }

  mutating func complain(_ line: Int?, _ message: String) {
    problems.append(Problem(file: file, line: line, message))
  }

  mutating func complain(_ node: Node, _ message: String) { complain(node.mark?.line, message) }

  /// A mapping's values by keyword. What is no keyword is a complaint.
  mutating func values<Keyword>(
    of node: Node, _ what: String, _ keywords: Keyword.Type
  ) -> [(key: Keyword, line: Int?, value: Node)]?
  where Keyword: RawRepresentable<String> & CaseIterable {
    let known = Keyword.allCases.map(\.rawValue).joined(separator: ", ")
    guard let mapping = node.mapping else {
      complain(node, "\(what) is \(node.kind), not a mapping; write 'key: value' lines with the keys \(known)")
      return nil
    }
    var values: [(key: Keyword, line: Int?, value: Node)] = []
    for (key, value) in mapping {
      if let keyword = key.scalar.flatMap({ Keyword(rawValue: $0.string) }) {
        values.append((keyword, key.mark?.line, value))
      } else {
        let shown = key.scalar?.string ?? key.kind
        complain(key, "unknown key '\(shown)' in \(what); known are \(known)")
      }
    }
    return values
  }

  /// Reads one scalar; nil after a complaint.
  mutating func scalar<T>(
    _ node: Node, _ key: String, _ read: (String) throws(Complaint) -> T
  ) -> T? {
    guard let text = node.scalar?.string else {
      complain(node, "'\(key)' is \(node.kind); give it one value")
      return nil
    }
    do throws(Complaint) {
      return try read(text)
    } catch {
      complain(node, "\(key): \(error.message)")
      return nil
    }
  }

  // MARK: - The file

  mutating func readTop(_ root: Node) {
    guard let values = values(of: root, "the file", TopKeyword.self) else { return }
    for (key, _, node) in values {
      switch key {
      case .interval:
        if let value = scalar(node, key.rawValue, Scalars.duration) { configuration.interval = value }
      case .logLevel:
        let levels = Logger.Level.allCases.map { ($0.rawValue, $0) }
        let value = scalar(node, key.rawValue) { text throws(Complaint) in
          try Scalars.word(text, levels, "a log level")
        }
        if let value { configuration.logLevel = value }
      case .tables: readTables(node)
      case .resp: readRESP(node)
      }
    }
    if let resp = values.first(where: { $0.key == .resp }) { checkRESP(resp.value) }
    if !values.contains(where: { $0.key == .tables }) {
      complain(root, "the key 'tables' is missing; give it a list of tables, or 'tables: []' for none")
    }
  }

  mutating func readTables(_ node: Node) {
    guard let list = node.sequence else {
      return complain(node, "'tables' is \(node.kind), not a list; begin each table with '- name: NAME'")
    }
    for item in list {
      guard let table = readTable(item) else { continue }
      if let first = configuration.tables.first(where: { $0.name == table.name }) {
        complain(
          table.line(.name),
          "table '\(table.name)' is configured twice, first in line \(first.line(.name) ?? 0); remove one")
      }
      configuration.tables.append(table)
    }
  }

  // MARK: - A table

  mutating func readTable(_ node: Node) -> TableConfiguration? {
    guard let values = values(of: node, "a table", TableKeyword.self) else { return nil }
    var given: [TableKeyword: Node] = [:]
    var lines: [TableKeyword: Int] = [:]
    for (key, line, value) in values {
      given[key] = value
      lines[key] = value.mark?.line ?? line
    }
    if given[.name] == nil { complain(node, "a table without 'name'; give it one") }
    // Without a name, or with a wrong one, the rest is still read for its complaints.
    let name = given[.name].flatMap { scalar($0, "name", Self.tableName) }
    let options = readOptions(given)
    guard let name else { return nil }
    return TableConfiguration(name: name, options: options, lines: lines)
  }

  private static func tableName(_ text: String) throws(Complaint) -> String {
    guard ObjectName.isValid(text) else {
      throw Complaint(
        "'\(text.prefix(64))' is not a table name; use 1 to \(ObjectName.maximumLength) letters, digits and "
          + ". _ - @ : +, not starting with a dot")
    }
    return text
  }

  mutating func readOptions(_ given: [TableKeyword: Node]) -> Table.Options {
    func value<T>(_ key: TableKeyword, _ read: (String) throws(Complaint) -> T) -> T? {
      given[key].flatMap { scalar($0, key.rawValue, read) }
    }
    // In the order of the keywords; complaints are sorted by line later.
    let variant = value(.variant) { text throws(Complaint) in
      try Scalars.word(text, [("rcu", Table.Variant.rcu), ("rwlock", .rwlock)], "a variant")
    }
    let capacity = value(.capacity, Scalars.capacity)
    let mode = value(.mode, Scalars.mode)
    let owner = value(.owner, Accounts.user)
    let group = value(.group, Accounts.group)
    _ = value(.full) { text throws(Complaint) in try Scalars.word(text, [("refuse", ())], "a policy for full tables") }
    let preallocate = value(.preallocate) { text throws(Complaint) in
      try Scalars.word(text, [("true", true), ("false", false)], "true or false")
    }
    let policy = value(.stalledReader) { text throws(Complaint) in
      try Scalars.word(
        text, [("evict", StalledReaderPolicy.evict), ("wait", .wait), ("refuse", .refuse)],
        "a policy for stalled readers")
    }
    let capacityBytes = capacity ?? Table.Options().capacityBytes
    // A capacity that is wrong is no measure for the budget.
    let mostBudget = given[.capacity] != nil && capacity == nil ? Int.max : capacityBytes
    let budget = value(.limboBudget) { text throws(Complaint) in
      let bytes = try Scalars.size(text)
      guard bytes >= 64 << 10, bytes <= mostBudget else {
        throw Complaint("\(text) is out of range; give 64KiB up to the capacity (\(Scalars.describe(mostBudget)))")
      }
      return bytes
    }
    return Table.Options(
      variant: variant ?? .rcu, capacityBytes: capacityBytes, mode: mode ?? 0o660, owner: owner, group: group,
      limboBudgetBytes: budget, stalledReaderPolicy: policy ?? .evict, preallocate: preallocate ?? false)
  }
}

extension Node {
  /// For people who may not know YAML's words.
  var kind: String {
    switch self {
    case .scalar(let scalar): scalar.string.isEmpty ? "empty" : "the value '\(scalar.string.prefix(32))'"
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .alias: "an alias"
    }
  }
}
