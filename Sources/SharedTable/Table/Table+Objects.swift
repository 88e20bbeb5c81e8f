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

  /// Removes what a process that died has left of a table: one of its two objects, where the other is not there. Never a
  /// whole table. Never blocks.
  /// - Returns: false if both are there or none, or somebody is making the table just now.
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
