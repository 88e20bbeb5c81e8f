/// A value of the configuration file, with the line that it begins in.
struct Node {
  enum Content {
    /// Text, quoted or not. Whether it is a number or a word, its reader decides.
    case scalar(String)
    case sequence([Node])
    case mapping([Pair])
  }

  struct Pair {
    let key: Node
    let value: Node
  }

  let content: Content
  let line: Int

  var scalar: String? { if case .scalar(let text) = content { text } else { nil } }
  var sequence: [Node]? { if case .sequence(let items) = content { items } else { nil } }
  var mapping: [Pair]? { if case .mapping(let pairs) = content { pairs } else { nil } }

  /// For people who may not know YAML's words.
  var kind: String {
    switch content {
    case .scalar(let text): text.isEmpty ? "empty" : "the value \(text.quotedExcerpt)"
    case .mapping: "a mapping"
    case .sequence: "a list"
    }
  }
}
