import SharedMemory
public import TableEngine

extension Table {
  /// Sizes, holders and readers of a table at about one moment.
  public typealias Statistics = TableEngine.Statistics
  /// A process that holds what others may wait for.
  public typealias Holder = TableEngine.Holder

  /// A thread that holds a place in a table, and what it does there.
  public typealias Reader = TableEngine.Statistics.Reader

  /// A look at the table for people and metrics; each figure is true at its moment, all together at none.
  /// Blocks nobody. Grows with the table's claimed size: not for every request.
  public var statistics: Statistics { segment.statistics }

  /// Bytes that /dev/shm has room for just now; nil where its size is not limited.
  ///
  /// A table claims its capacity as it fills: one of more capacity than this may meet `full` long before it is used
  /// up.
  /// - Throws: `system`.
  public static func freeBytes() throws(TableError) -> Int? {
    do throws(SystemError) {
      return try SharedMemoryRoom()?.freeBytes
    } catch {
      throw TableError(.system, table: "*", "cannot look at /dev/shm; mount a tmpfs there", errno: error.errno)
    }
  }
}
