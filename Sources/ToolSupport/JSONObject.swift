/// JSON as bytes, without a library: what `--json` prints is a flat object a line, and a parser for that would cost
/// more at start-up than everything else.
public struct JSONObject {
  public private(set) var bytes: [UInt8] = [UInt8(ascii: "{")]

  public init() {}

  /// The object, with the line's end.
  public var line: [UInt8] { bytes + Array("}\n".utf8) }
  public var text: [UInt8] { bytes + [UInt8(ascii: "}")] }

  public mutating func add(_ name: String, raw: [UInt8]) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes += JSONText.quoted(name)
    bytes.append(UInt8(ascii: ":"))
    bytes += raw
  }

  public mutating func add(_ name: String, _ number: some BinaryInteger) { add(name, raw: Array(String(number).utf8)) }
  public mutating func add(_ name: String, _ flag: Bool) { add(name, raw: Array((flag ? "true" : "false").utf8)) }
  public mutating func add(_ name: String, _ text: String) { add(name, raw: JSONText.quoted(text)) }
  public mutating func addNull(_ name: String) { add(name, raw: Array("null".utf8)) }

  public mutating func add(_ name: String, strings: [String]) {
    add(name, raw: JSONText.array(strings.map(JSONText.quoted)))
  }

  /// `"key":"…"`, or `"keyBase64":"…"` for bytes that are no UTF-8.
  public mutating func add(_ name: String, bytes: [UInt8]) {
    if let text = String(validating: bytes, as: UTF8.self) {
      add(name, text)
    } else {
      addBase64(name, bytes)
    }
  }

  public mutating func addBase64(_ name: String, _ bytes: [UInt8]) { add("\(name)Base64", JSONText.base64(bytes)) }
}
