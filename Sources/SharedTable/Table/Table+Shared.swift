/// One handle a table and process, found by name: for code that does not want to carry handles around.
extension Table {
  /// The process's handle of a table, opened at the first call and the same one as long as the name leads to that table.
  ///
  /// Later calls cost a dictionary lookup and wait for nobody. A table that was dropped, or replaced by `shmctl resize`, since the last call is
  /// opened anew; within 100 ms, if a program or person removed its objects by other means, or this process only observes it. So is any in a
  /// child that was forked since. Collections, queues and others that were made on the handle of before stay with that table. What
  /// ``open(_:access:variant:trusting:timeout:clock:)`` throws, this throws too, and remembers nothing then.
  public static func shared(_ name: String) throws(TableError) -> Table {
    if let table = HandleRegistry.shared.find(name) { return table }
    return HandleRegistry.shared.enter(try open(name))
  }

  /// Forgets the process's handle of a table; the next ``shared(_:)`` opens it anew. Whoever has the handle keeps it,
  /// and its memory goes with the last of them.
  ///
  /// Waits for lookups that are under way, some microseconds.
  public static func forgetShared(_ name: String) { HandleRegistry.shared.remove(name) }
}
