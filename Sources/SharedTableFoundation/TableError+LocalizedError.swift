public import FoundationEssentials
public import SharedTable

extension TableError: LocalizedError {
  /// Its ``SharedTable/TableError/description``, which `localizedDescription` shows: what happened, to which table, and what to do.
  public var errorDescription: String? { description }
}
