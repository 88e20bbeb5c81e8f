import SharedTable

/// What is compared of a table that an operation was in: the name of the checker's job.
enum Judged: String {
  /// Keys and values.
  case table
  /// What the typed API says of a ``CollectionScene``'s collections.
  case collections

  func contents(of table: Table) throws -> Contents {
    switch self {
    case .table: try Contents(of: table)
    case .collections: Contents(try CollectionContents(of: table))
    }
  }

  func problems(of table: Table) throws -> [String] {
    let problems = try table.check(timeout: .seconds(10))
    if self == .table || !problems.isEmpty { return problems }
    return try table.checkCollections(timeout: .seconds(10))
  }

  /// Changes the table a little more.
  /// - Returns: what it must hold then.
  func goOn(_ table: Table) throws -> Contents {
    switch self {
    case .table:
      let before = try Contents(of: table)
      try table.set("one more", "value")
      guard try table.get("one more", as: String.self) == "value" else { throw Wrong("what was set is not read") }
      guard try table.remove("one more") else { throw Wrong("what was set is not there to remove") }
      return before
    case .collections:
      var contents = try CollectionContents(of: table)
      try contents.changeEach(of: try Collections(in: table))
      return Contents(contents)
    }
  }
}

/// What a judge says of an image.
struct Wrong: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
