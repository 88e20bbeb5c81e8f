import SharedTable
import ToolSupport

/// A configuration as YAML that reads as the same configuration, each value with where it comes from.
enum ConfigurationText {
  static func text(of configuration: Configuration) -> String {
    var lines = TopKeyword.allCases.compactMap { key in
      value(of: key, in: configuration).map { value in
        line("", key.rawValue, value, configuration.sources[key].map { "\($0.file):\($0.line)" })
      }
    }
    lines.append(configuration.tables.isEmpty ? "tables: []" : "tables:")
    for table in configuration.tables {
      var start = "  - "
      for key in TableKeyword.allCases {
        guard let value = value(of: key, in: table) else { continue }
        lines.append(line(start, key.rawValue, value, table.lines[key].map { "\(table.file):\($0)" }))
        start = "    "
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(_ start: String, _ key: String, _ value: String, _ source: String?) -> String {
    "\(start)\(key): \(value)  # \(source ?? "default")"
  }

  /// A text in quotes. YAML reads JSON's as they are meant.
  static func quoted(_ text: String) -> String { String(decoding: JSONText.quoted(text), as: UTF8.self) }

  /// Nil for the tables, which have lines of their own, and for what is not asked for.
  private static func value(of key: TopKeyword, in configuration: Configuration) -> String? {
    switch key {
    case .interval: configuration.interval.written
    case .logLevel: configuration.logLevel.rawValue
    case .storeDirectory: quoted(configuration.storeDirectory)
    case .tables: nil
    case .resp: configuration.resp?.written
    case .monitoring: configuration.monitoring.map { "{\($0.written.joined(separator: ", "))}" }
    }
  }

  /// Nil for what is left to the host.
  private static func value(of key: TableKeyword, in table: TableConfiguration) -> String? {
    let options = table.options
    return switch key {
    // Quoted: a name of digits alone would be a number to other readers of YAML.
    case .name: "\"\(table.name)\""
    case .variant: "\(options.variant)"
    case .capacity: Scalars.describe(options.capacityBytes)
    case .mode: "\"0\(String(options.mode, radix: 8))\""
    case .owner: options.owner.map { Accounts.name(ofUser: $0).map(quoted) ?? "\($0)" }
    case .group: options.group.map { Accounts.name(ofGroup: $0).map(quoted) ?? "\($0)" }
    case .full: "refuse"
    case .preallocate: "\(options.preallocate)"
    case .hugePages: "\(options.hugePages)"
    case .stalledReader: "\(options.stalledReaderPolicy)"
    case .limboBudget: Scalars.describe(options.limits.limboBudgetBytes)
    case .durability: table.durability.written
    case .upstream: table.upstream?.written
    }
  }
}

extension RESPConfiguration {
  /// As a configuration writes it.
  fileprivate var written: String {
    let parts: [String?] = [
      tables.map { "tables: [\($0.map(ConfigurationText.quoted).joined(separator: ", "))]" },
      users.map { "users: [\($0.map(String.init).joined(separator: ", "))]" },
      access.map { "access: [\($0.map(\.written).joined(separator: ", "))]" },
    ]
    return "{\((listening.written + parts.compactMap(\.self)).joined(separator: ", "))}"
  }
}

extension Durability {
  /// As a configuration writes it.
  var written: String {
    switch self {
    case .none: "none"
    case .relaxed(let interval): "relaxed(\(interval.written))"
    case .everyBarrier: "every-barrier"
    }
  }
}

extension Duration {
  /// As a configuration writes it.
  var written: String {
    let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }
}
