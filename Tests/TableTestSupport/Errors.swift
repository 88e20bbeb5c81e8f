public import SharedTable
public import Testing

/// The table's error that `body` throws; nil if it throws none. Another one is an issue.
public func error<R>(_ body: () throws -> R, sourceLocation: SourceLocation = #_sourceLocation) -> TableError? {
  do {
    _ = try body()
    return nil
  } catch {
    return tableError(error, sourceLocation)
  }
}

/// The same of asynchronous code.
nonisolated(nonsending) public func error<R>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: nonisolated(nonsending) () async throws -> R
) async -> TableError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return tableError(error, sourceLocation)
  }
}

private func tableError(_ error: any Error, _ sourceLocation: SourceLocation) -> TableError? {
  if let error = error as? TableError { return error }
  Issue.record("another error: \(error)", sourceLocation: sourceLocation)
  return nil
}

/// The code of the error that `body` throws; nil if it throws none.
public func code<R>(
  _ body: () throws -> R, sourceLocation: SourceLocation = #_sourceLocation
) -> TableError.Code? {
  error(body, sourceLocation: sourceLocation)?.code
}
