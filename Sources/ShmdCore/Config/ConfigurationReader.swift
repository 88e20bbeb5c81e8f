import Logging
import SharedMemory
import SharedTable
import TableEngine

/// Reads a configuration and finds all that is wrong with it, each thing with its line.
///
/// It walks the YAML nodes instead of decoding into types, because nodes know their lines and a decoder stops at the
/// first complaint. Unknown keys are complaints: a misspelt one would silently be a default.
public struct ConfigurationReader {
  /// The one that is being read.
  private(set) var file: String
  private var isDropIn = false
  var problems: [Problem] = []
  var configuration: Configuration

  private init(file: String) {
    self.file = file
    configuration = Configuration(file: file)
  }

  /// Reads and checks a file, and then its drop-ins in the order of their names. Nothing else is touched.
  /// - Throws: ``Refusal`` with everything that is wrong.
  public static func read(file: String) throws(Refusal) -> Configuration {
    var reader = ConfigurationReader(file: file)
    reader.readFile(cure: "name a readable file with --config")
    reader.isDropIn = true
    let directory = dropInDirectory(of: file)
    reader.file = directory
    reader.refuseIfWritableByAll()
    do {
      for name in try HostFile.names(in: directory) where name.hasSuffix(".yaml") && !name.hasPrefix(".") {
        reader.file = "\(directory)/\(name)"
        reader.readFile(cure: "make it readable, or remove it")
      }
    } catch {
      reader.file = directory
      reader.complain(nil, "cannot be read: \(error); make it readable, or remove it")
    }
    return try reader.result()
  }

  /// As ``read(file:)``, for a text, named as a file and without drop-ins.
  public static func parse(_ text: String, file: String) throws(Refusal) -> Configuration {
    var reader = ConfigurationReader(file: file)
    reader.read(text)
    return try reader.result()
  }

  /// `/etc/shmd.d` beside `/etc/shmd.yaml`.
  static func dropInDirectory(of file: String) -> String {
    (file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file) + ".d"
  }

  /// What was read, if nothing is wrong with it: each value by itself, and those that name tables of other files.
  private mutating func result() throws(Refusal) -> Configuration {
    if let source = configuration.sources[.resp] {
      file = source.file
      checkRESP(line: source.line)
    }
    if let source = configuration.sources[.monitoring] {
      file = source.file
      checkPlaces(line: source.line)
    }
    checkTableCount()
    if !problems.isEmpty { throw Refusal(problems) }
    return configuration
  }

  /// A table's slot belongs to a thread, and the daemon's one thread for tables can hold no more than so many.
  static let mostTables = 1_900

  private mutating func checkTableCount() {
    guard configuration.tables.count > Self.mostTables else { return }
    let table = configuration.tables[Self.mostTables]
    file = table.file
    complain(
      table.line(.name),
      "there are \(configuration.tables.count) tables; shmd keeps at most \(Self.mostTables); let programs make the others"
    )
  }

  /// What it says would be anybody's to say.
  private mutating func refuseIfWritableByAll() {
    if HostFile.isWritableByAll(file) { complain(nil, "every user may write to it; run: chmod o-w \(file)") }
  }

  private mutating func readFile(cure: String) {
    refuseIfWritableByAll()
    do {
      read(try HostFile.text(of: file))
    } catch {
      complain(nil, "cannot be read: \(error); \(cure)")
    }
  }

  private mutating func read(_ text: String) {
    if let root = compose(text) { readTop(root) }
  }

  // MARK: - YAML

  mutating func compose(_ text: String) -> Node? {
    var composer = NodeComposer(text)
    do throws(YAMLMistake) {
      let root = try composer.document()
      for mistake in composer.duplicates { complain(mistake.line, mistake.message) }
      // A drop-in may be a template whose lines are all comments.
      if root == nil, !isDropIn { complain(1, "the file is empty; write 'tables:' and a list of tables") }
      return root
    } catch {
      complain(error.line, "is not YAML: \(error.message)")
      return nil
    }
  }

  mutating func complain(_ line: Int?, _ message: String) {
    problems.append(Problem(file: file, line: line, message))
  }

  mutating func complain(_ node: Node, _ message: String) { complain(node.line, message) }

  /// A mapping's values by keyword. What is no keyword is a complaint.
  mutating func values<Keyword>(
    of node: Node, _ what: String, _ keywords: Keyword.Type
  ) -> [(key: Keyword, line: Int, value: Node)]?
  where Keyword: RawRepresentable<String> & CaseIterable & Equatable {
    let known = Keyword.allCases.map(\.rawValue).joined(separator: ", ")
    guard let mapping = node.mapping else {
      complain(node, "\(what) is \(node.kind), not a mapping; write 'key: value' lines with the keys \(known)")
      return nil
    }
    var values: [(key: Keyword, line: Int, value: Node)] = []
    for pair in mapping {
      if let keyword = pair.key.scalar.flatMap(Keyword.init(rawValue:)) {
        // A key given twice is a complaint already; its first value is read.
        if !values.contains(where: { $0.key == keyword }) { values.append((keyword, pair.key.line, pair.value)) }
      } else {
        let shown = (pair.key.scalar ?? pair.key.kind).quotedExcerpt
        complain(pair.key, "unknown key \(shown) in \(what); known are \(known)")
      }
    }
    return values
  }

  /// Reads one scalar; nil after a complaint.
  mutating func scalar<T>(
    _ node: Node, _ key: String, _ read: (String) throws(Complaint) -> T
  ) -> T? {
    guard let text = node.scalar else {
      complain(node, "'\(key)' is \(node.kind); give it one value")
      return nil
    }
    do throws(Complaint) {
      return try read(text)
    } catch {
      problems.append(Problem(file: file, line: node.line, "\(key): \(error.message)", isTemporary: error.isTemporary))
      return nil
    }
  }

  // MARK: - The file

  mutating func readTop(_ root: Node) {
    guard let values = values(of: root, "the file", TopKeyword.self) else { return }
    for (key, line, node) in values {
      configuration.sources[key] = Source(file: file, line: line)
      switch key {
      case .interval:
        if let value = scalar(node, key.rawValue, Scalars.interval) { configuration.interval = value }
      case .logLevel:
        let value = scalar(node, key.rawValue) { text throws(Complaint) in
          try Scalars.rawWord(text, "a log level") as Logger.Level
        }
        if let value { configuration.logLevel = value }
      case .storeDirectory:
        if let value = scalar(node, key.rawValue, Scalars.directory) { configuration.storeDirectory = value }
      case .tables: readTables(node)
      case .resp: readRESP(node)
      case .monitoring: readMonitoring(node)
      }
    }
    if !isDropIn, !values.contains(where: { $0.key == .tables }) {
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
        let line = first.line(.name).map(String.init) ?? "?"
        let place = first.file == file ? "line \(line)" : "\(first.file):\(line)"
        complain(table.line(.name), "table '\(table.name)' is configured twice, first in \(place); remove one")
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
      lines[key] = line
    }
    if given[.name] == nil { complain(node, "a table without 'name'; give it one") }
    // Without a name, or with a wrong one, the rest is still read for its complaints.
    let name = given[.name].flatMap { scalar($0, "name", Self.tableName) }
    let options = readOptions(given)
    let durability = given[.durability].flatMap { scalar($0, "durability", Scalars.durability) }
    let upstream = given[.upstream].flatMap { readUpstream($0) }
    guard let name else { return nil }
    var table = TableConfiguration(file: file, name: name, options: options, lines: lines)
    table.durability = durability ?? .none
    table.upstream = upstream
    if given[.upstream] != nil { table.options.features = [.mirror] }
    return table
  }

  private static func tableName(_ text: String) throws(Complaint) -> String {
    guard ObjectName.isValid(text) else {
      throw Complaint(
        "\(text.quotedExcerpt) is not a table name; use 1 to \(ObjectName.maximumLength) letters, digits and "
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
      try Scalars.word(text, "a variant") as Table.Variant
    }
    let capacity = value(.capacity, Scalars.capacity)
    let mode = value(.mode, Scalars.mode)
    let owner = value(.owner, Accounts.user)
    let group = value(.group, Accounts.group)
    _ = value(.full) { text throws(Complaint) in try Scalars.word(text, [("refuse", ())], "a policy for full tables") }
    let preallocate = value(.preallocate, Scalars.truth)
    let hugePages = value(.hugePages, Scalars.truth)
    let policy = value(.stalledReader) { text throws(Complaint) in
      try Scalars.word(text, "a policy for stalled readers") as Table.StalledReaderPolicy
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
      limboBudgetBytes: budget, stalledReaderPolicy: policy ?? .evict, preallocate: preallocate ?? false,
      hugePages: hugePages ?? true)
  }
}
