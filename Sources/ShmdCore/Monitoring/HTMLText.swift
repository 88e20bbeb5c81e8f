import ToolSupport

extension String {
  /// The text for between tags and for attributes in double quotes: names, commands, and keys come from strangers.
  ///
  /// Control characters are spelled out, and so are those that turn the direction of what stands around them.
  var html: String {
    var result = ""
    for scalar in printable.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case _ where scalar.properties.generalCategory == .format:
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// At most so many characters, with an ellipsis for the rest.
  func cut(_ length: Int) -> String { count > length ? prefix(length - 1) + "…" : self }
}
