import ToolSupport

/// Something that is not as it should be on a host, and what helps.
struct Finding {
  /// Which check found it, for programs.
  let check: String
  /// The table that it is about; nil: the host.
  var table: String?
  let what: String
  /// The command, as it is typed.
  let cure: String
  /// Was put right by `--fix`.
  var isFixed = false
  /// Puts it right without any risk; says what was done, nil if nothing had to be done any more.
  var fix: (() throws -> Bool)?

  init(_ check: String, table: String? = nil, _ what: String, cure: String, fix: (() throws -> Bool)? = nil) {
    self.check = check
    self.table = table
    self.what = what
    self.cure = cure
    self.fix = fix
  }

  /// Two lines.
  var text: String {
    let place = table.map { "table '\($0)': " } ?? ""
    let end = isFixed ? "fixed" : "cure: \(cure)"
    return "\(StandardError.printable(place + what))\n  \(StandardError.printable(end))\n"
  }

  var json: JSONObject {
    var object = JSONObject()
    object.add("check", check)
    if let table { object.add("table", table) }
    object.add("what", what)
    object.add("cure", cure)
    object.add("fixable", fix != nil)
    object.add("fixed", isFixed)
    return object
  }
}
