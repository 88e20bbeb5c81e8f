import SharedMemory
public import TableEngine

/// For listings and for whoever looks after a host: what lies in /dev/shm, without attaching to it.
extension Table {
  /// What has one of a table's two names: owner, rights, size.
  public typealias NamedObject = TableEngine.NamedObject

  /// What lies under a table's two names, nil for nothing; of a table both are there. Needs no right to either. Never blocks.
  /// - Throws: `invalid` for another name than a table can have.
  public static func objects(of name: String) throws(TableError) -> (data: NamedObject?, control: NamedObject?) {
    try check(name)
    return NamedObject.pair(ofTable: name)
  }

  /// Removes what a process that died while it made or dropped a table has left: the control object, where the data object is not there.
  /// Never a whole table, nor a data object alone: it still holds the values, and observers read them. Never blocks.
  /// - Returns: false if the data object is there or neither is, or a process is making the table just now.
  /// - Throws: `foreign` (the object of a user who is not trusted), `notATable`, `notPermitted`.
  public static func dropHalf(_ name: String, trusting: TrustedOwners = []) throws(TableError) -> Bool {
    try check(name)
    do throws(EngineError) {
      return try Segment.dropHalf(name, trusted: trusting)
    } catch {
      throw TableError(error, table: name)
    }
  }

  /// Whether this process's reads may leave their fences to writers (membarrier(2)). Where the kernel or a sandbox denies it
  /// each read takes a full fence.
  public static var hasMembarrier: Bool { Membarrier.mode == .light }
}
