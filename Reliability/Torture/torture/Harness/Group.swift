/// One kind of torture: one chapter of RELIABILITY.md.
struct Group: Sendable {
  /// Of the chapter.
  let number: Int
  let title: String
  /// Heads of the columns of the report's table.
  let columns: [String]
  let items: [Item]
}

/// One thing that is tried on a table until it breaks.
struct Item: Sendable {
  /// group.part
  let name: String
  /// What is tried, for `--list`.
  let summary: String
  /// Throws where it could not be tried at all, or stops for good; a broken promise is told to `Run.expect`.
  let body: @Sendable (Run) throws -> Void

  init(_ name: String, _ summary: String, _ body: @escaping @Sendable (Run) throws -> Void) {
    self.name = name
    self.summary = summary
    self.body = body
  }

  func isNamed(_ text: String) -> Bool { name == text || name.hasPrefix(text + ".") }
}

/// In the order of the report.
let groups: [Group] = [
  imagesGroup,
  .kills,
  .recovery,
  .storm,
  .history,
  stalledGroup,
  hostileGroup,
  aroundGroup,
  threadsGroup,
  .soak,
]
