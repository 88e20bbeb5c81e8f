import CLibYAML

/// One step of a YAML text, as libyaml reports it.
struct YAMLEvent {
  enum Kind: Equatable {
    case documentStart
    case streamEnd
    case scalar(String)
    case alias
    case sequenceStart
    case mappingStart
    /// Of a sequence or a mapping.
    case end
    /// What says nothing about the contents: the start of the stream, the end of a document.
    case other
  }

  let kind: Kind
  /// Counted from 1.
  let line: Int
  var hasAnchor = false
  var hasTag = false
}

/// A text that is not YAML, or that is more than a configuration may be.
struct YAMLMistake: Error {
  let line: Int?
  let message: String
}

/// Takes a YAML text apart with the host's libyaml, step by step. Keeps no more of it than the step needs.
@safe final class YAMLParser {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  /// libyaml reads from it as long as it parses.
  private let input: UnsafeMutableBufferPointer<UInt8>

  init(_ text: String) {
    unsafe input = .allocate(capacity: text.utf8.count)
    _ = unsafe input.initialize(fromContentsOf: text.utf8)
    unsafe parser = .allocate(capacity: 1)
    // Without memory for its buffers nothing else will go either.
    guard unsafe yaml_parser_initialize(parser) == 1 else { fatalError("shmd has no memory to read its configuration") }
    unsafe yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe input.deallocate()
  }

  /// The next step. After the end of the stream, and after a mistake, there is none.
  func next() throws(YAMLMistake) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw mistake }
    defer { unsafe yaml_event_delete(&event) }
    return unsafe Self.step(event)
  }

  private static func step(_ event: yaml_event_t) -> YAMLEvent {
    let line = unsafe Int(event.start_mark.line) + 1
    switch unsafe event.type {
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      return unsafe YAMLEvent(
        kind: .scalar(String(decoding: bytes, as: UTF8.self)), line: line, hasAnchor: scalar.anchor != nil,
        hasTag: scalar.tag != nil)
    case YAML_SEQUENCE_START_EVENT:
      let start = unsafe event.data.sequence_start
      return unsafe YAMLEvent(
        kind: .sequenceStart, line: line, hasAnchor: start.anchor != nil, hasTag: start.tag != nil)
    case YAML_MAPPING_START_EVENT:
      let start = unsafe event.data.mapping_start
      return unsafe YAMLEvent(
        kind: .mappingStart, line: line, hasAnchor: start.anchor != nil, hasTag: start.tag != nil)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .end, line: line)
    case YAML_ALIAS_EVENT: return YAMLEvent(kind: .alias, line: line)
    case YAML_DOCUMENT_START_EVENT: return YAMLEvent(kind: .documentStart, line: line)
    case YAML_STREAM_END_EVENT: return YAMLEvent(kind: .streamEnd, line: line)
    default: return YAMLEvent(kind: .other, line: line)
    }
  }

  /// Why libyaml stopped.
  private var mistake: YAMLMistake {
    let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? "libyaml gave up"
    switch unsafe parser.pointee.error {
    case YAML_READER_ERROR:
      // Of a character that cannot be in a text, libyaml knows the place in bytes.
      let before = unsafe input.prefix(parser.pointee.problem_offset)
      let newline = UInt8(ascii: "\n")
      return unsafe YAMLMistake(line: before.count { $0 == newline } + 1, message: problem)
    case YAML_MEMORY_ERROR: return YAMLMistake(line: nil, message: "no memory to read it")
    default:
      let context = unsafe parser.pointee.context.map { context in
        unsafe ", \(String(cString: context)) (line \(parser.pointee.context_mark.line + 1))"
      }
      return unsafe YAMLMistake(
        line: Int(parser.pointee.problem_mark.line) + 1, message: problem + (context ?? ""))
    }
  }
}
