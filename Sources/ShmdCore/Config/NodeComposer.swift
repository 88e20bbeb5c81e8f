/// Makes the nodes of a YAML text, within bounds: a file that anybody could have written costs bounded time and memory.
///
/// What YAML has beyond values, lists and mappings is refused: by anchors and aliases a short file can be a huge one, and
/// tags mean nothing here.
struct NodeComposer {
  /// Far deeper than any key lies, and no depth at which recursion hurts.
  static let maximumDepth = 16
  /// Room for thousands of tables.
  static let maximumNodes = 200_000

  private let parser: YAMLParser
  private var nodeCount = 0
  /// Keys given twice: all of them are named, as nothing hangs on which of both is meant.
  private(set) var duplicates: [YAMLMistake] = []

  init(_ text: String) { parser = YAMLParser(text) }

  /// The text's one document; nil if there is none.
  mutating func document() throws(YAMLMistake) -> Node? {
    var root: Node?
    while true {
      let event = try parser.next()
      switch event.kind {
      case .streamEnd: return root
      case .documentStart:
        if root != nil { throw YAMLMistake(line: event.line, message: "another document begins here; keep one") }
      case .other: continue
      default: root = try node(event, depth: 0)
      }
    }
  }

  private mutating func node(_ event: YAMLEvent, depth: Int) throws(YAMLMistake) -> Node {
    try check(event, depth: depth)
    switch event.kind {
    case .sequenceStart:
      var items: [Node] = []
      while let item = try member(depth: depth) { items.append(item) }
      return Node(content: .sequence(items), line: event.line)
    case .mappingStart:
      var pairs: [Node.Pair] = []
      var lines: [String: Int] = [:]
      while let key = try member(depth: depth) {
        // Of a mapping, libyaml has a value for each key.
        guard let value = try member(depth: depth) else { break }
        pairs.append(Node.Pair(key: key, value: value))
        guard let name = key.scalar else { continue }
        if let first = lines[name] {
          let message = "\(name.quotedExcerpt) given twice in one mapping, first in line \(first); keep one"
          duplicates.append(YAMLMistake(line: key.line, message: message))
        } else {
          lines[name] = key.line
        }
      }
      return Node(content: .mapping(pairs), line: event.line)
    case .scalar(let text): return Node(content: .scalar(text), line: event.line)
    default: return Node(content: .scalar(""), line: event.line)
    }
  }

  /// The next node of a list or mapping; nil at its end.
  private mutating func member(depth: Int) throws(YAMLMistake) -> Node? {
    let event = try parser.next()
    return event.kind == .end ? nil : try node(event, depth: depth + 1)
  }

  private mutating func check(_ event: YAMLEvent, depth: Int) throws(YAMLMistake) {
    nodeCount += 1
    let mistake: String? =
      if event.kind == .alias || event.hasAnchor {
        "anchors (&) and aliases (*) are not used here; write the value where it is needed, or quote it"
      } else if event.hasTag {
        "tags (!) are not used here; write the value alone, or quote it"
      } else if depth > Self.maximumDepth {
        "nested more than \(Self.maximumDepth) deep; a configuration has lists of mappings only"
      } else if nodeCount > Self.maximumNodes {
        "more than \(Self.maximumNodes) values; no configuration has that many"
      } else {
        nil
      }
    if let mistake { throw YAMLMistake(line: event.line, message: mistake) }
  }
}
