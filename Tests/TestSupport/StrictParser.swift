/// Reads the Prometheus text format 0.0.4 and complains about whatever a scraper could misunderstand.
public struct StrictParser {
  public struct Sample: Equatable {
    public let name: String
    public let labels: [String: String]
    public let value: Double
  }

  public struct Family {
    public let name: String
    public let help: String
    public let kind: String
    public internal(set) var samples: [Sample] = []
  }

  public struct Complaint: Error, CustomStringConvertible { public let description: String }

  public private(set) var families: [Family] = []

  public init(_ text: String) throws {
    guard text.isEmpty || text.hasSuffix("\n") else { throw Complaint(description: "the last line has no end") }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()[...]
    while let line = lines.popFirst() {
      if line.hasPrefix("# HELP ") {
        guard let type = lines.popFirst() else { throw Complaint(description: "no TYPE behind \(line)") }
        try begin(String(line), String(type))
      } else {
        try add(try Self.sample(String(line)))
      }
    }
    for family in families { try Self.judge(family) }
  }

  public func values(_ name: String, _ labels: [String: String] = [:]) -> [Double] {
    families.flatMap(\.samples).filter { sample in
      sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }.map(\.value)
  }

  private mutating func begin(_ help: String, _ type: String) throws {
    let words = help.dropFirst("# HELP ".count).split(separator: " ", maxSplits: 1)
    let types = type.split(separator: " ")
    guard words.count == 2, types.count == 4, types[0] == "#", types[1] == "TYPE", types[2] == words[0] else {
      throw Complaint(description: "HELP and TYPE do not belong together: \(help) / \(type)")
    }
    let name = String(words[0])
    guard !families.contains(where: { $0.name == name }) else { throw Complaint(description: "\(name) comes twice") }
    families.append(Family(name: name, help: String(words[1]), kind: String(types[3])))
  }

  private mutating func add(_ sample: Sample) throws {
    guard let family = families.last else { throw Complaint(description: "a sample before its family: \(sample)") }
    let names =
      family.kind == "histogram" ? [family.name + "_bucket", family.name + "_count"] : [family.name]
    guard names.contains(sample.name) else { throw Complaint(description: "\(sample.name) below \(family.name)") }
    guard !family.samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
      throw Complaint(description: "twice: \(sample)")
    }
    families[families.count - 1].samples.append(sample)
  }

  private static func judge(_ family: Family) throws {
    func complain(_ what: String) -> Complaint { Complaint(description: "\(family.name): \(what)") }
    guard !family.samples.isEmpty else { throw complain("no samples") }
    guard ["counter", "gauge", "histogram"].contains(family.kind) else { throw complain("type \(family.kind)") }
    guard (family.kind == "counter") == family.name.hasSuffix("_total") else {
      throw complain("_total is for counters")
    }
    for unit in ["milliseconds", "microseconds", "nanoseconds", "kilobytes", "kib", "mib", "percent", "ms", "ns"] {
      guard !family.name.split(separator: "_").contains(Substring(unit)) else { throw complain("unit \(unit)") }
    }
    if family.kind == "counter", family.samples.contains(where: { $0.value < 0 }) { throw complain("negative") }
    if family.kind == "histogram" { try judge(buckets: family) }
  }

  private static func judge(buckets family: Family) throws {
    let counts = family.samples.filter { $0.name.hasSuffix("_count") }
    for bucket in family.samples where bucket.name.hasSuffix("_bucket") {
      let labels = bucket.labels.filter { $0.key != "le" }
      guard counts.contains(where: { $0.labels == labels }) else {
        throw Complaint(description: "\(family.name): buckets without a count: \(labels)")
      }
    }
    for count in counts {
      let buckets = family.samples.filter { sample in
        sample.name.hasSuffix("_bucket") && sample.labels.filter { $0.key != "le" } == count.labels
      }
      let bounds = buckets.compactMap { $0.labels["le"].flatMap { $0 == "+Inf" ? .infinity : Double($0) } }
      let values = buckets.map(\.value)
      guard bounds.count == buckets.count, bounds == bounds.sorted(), bounds.last == .infinity,
        values == values.sorted(), values.last == count.value
      else { throw Complaint(description: "\(family.name): buckets \(bounds) \(values), count \(count.value)") }
    }
  }

  // MARK: - A line

  private static func sample(_ line: String) throws -> Sample {
    var rest = Array(line.unicodeScalars)[...]
    let complaint = Complaint(description: "no sample: \(line)")
    guard !rest.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) else { throw complaint }
    let name = takeName(&rest)
    guard !name.isEmpty else { throw complaint }
    var labels: [String: String] = [:]
    if rest.first == "{" {
      rest.removeFirst()
      while rest.first != "}" {
        let label = takeName(&rest)
        guard !label.isEmpty, !label.contains(":"), rest.popFirst() == "=", rest.popFirst() == "\"",
          let value = takeValue(&rest), labels.updateValue(value, forKey: label) == nil
        else { throw complaint }
        guard rest.first == "," || rest.first == "}" else { throw complaint }
        if rest.first == "," { rest.removeFirst() }
      }
      rest.removeFirst()
    }
    guard rest.popFirst() == " ", let value = Double(string(rest)), !string(rest).contains(" ") else { throw complaint }
    return Sample(name: name, labels: labels, value: value)
  }

  private static func string(_ scalars: some Sequence<UnicodeScalar>) -> String {
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars)
    return text
  }

  private static func takeName(_ rest: inout ArraySlice<UnicodeScalar>) -> String {
    let name = rest.prefix { scalar in
      scalar == "_" || scalar == ":" || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
        || ("0"..."9").contains(scalar)
    }
    rest = rest.dropFirst(name.count)
    return string(name)
  }

  /// Up to the closing quote; nil without one, or after an escape that there is not.
  private static func takeValue(_ rest: inout ArraySlice<UnicodeScalar>) -> String? {
    var value = ""
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"": return value
      case "\\":
        switch rest.popFirst() {
        case "\\": value += "\\"
        case "\"": value += "\""
        case "n": value += "\n"
        default: return nil
        }
      default: value.unicodeScalars.append(scalar)
      }
    }
    return nil
  }
}
