import SharedTable
import ToolSupport

/// The room in /dev/shm for a table that is to be made.
enum Room {
  /// Refuses a capacity that /dev/shm could never hold: a mistake better seen now than when the table fills.
  /// - Parameter freed: what the table that is there gives back.
  static func require(_ capacity: ByteCount, for name: String, freed: Int = 0) throws(TableError) {
    guard let free = try Table.freeBytes(), capacity.bytes > free + freed else { return }
    throw TableError(
      .full, table: name,
      "full: /dev/shm has room for \(ByteCount(bytes: free + freed)), not for \(capacity); "
        + "ask for less, free some, or enlarge the file system")
  }

  /// Whether something lies under the name. Of a table that is there already room is not the thing to say: it may be what takes it.
  static func isTaken(_ name: String) throws(TableError) -> Bool {
    let objects = try Table.objects(of: name)
    return objects.data != nil || objects.control != nil
  }
}
