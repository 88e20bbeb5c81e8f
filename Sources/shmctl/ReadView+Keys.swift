import SharedTable

extension ReadView {
  /// Shows `body` the keys that a look at the table meets first, `limit` at most, until it answers false. So the look takes no longer in
  /// a large table than in a small one.
  func forEachKey(atMost limit: Int, _ body: (RawSpan) -> Bool) throws {
    var met = 0
    _ = try first { key, _ -> Void? in
      met += 1
      return body(key) && met < limit ? nil : ()
    }
  }
}
