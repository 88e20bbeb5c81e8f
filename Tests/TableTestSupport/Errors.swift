public import SharedTable
public import Testing

/// The table's error that `body` throws; nil if it throws none. Another one is an issue.
public func error<R>(_ body: () throws -> R, sourceLocation: SourceLocation = #_sourceLocation) -> TableError? {
  do {
    _ = try body()
    return nil
  } catch let error as TableError {
    return error
  } catch {
    Issue.record("another error: \(error)", sourceLocation: sourceLocation)
    return nil
  }
}

/// The code of the error that `body` throws; nil if it throws none.
public func code<R>(
  _ body: () throws -> R, sourceLocation: SourceLocation = #_sourceLocation
) -> TableError.Code? {
  error(body, sourceLocation: sourceLocation)?.code
}
