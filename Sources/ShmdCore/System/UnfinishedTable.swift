import Glibc
import SharedMemory
import TableEngine

/// What a process that ended while it made a table leaves under the name.
enum UnfinishedTable {
  /// Whether the control object under a table's name says that the table is not ready. This does not tell whether the process that makes the
  /// table still lives: the engine's lock tells that to the process that creates the table next, which removes what a dead creator left.
  ///
  /// The words are read by pread(2), since the object's owner may cut it short, and a mapping would raise SIGBUS.
  static func lies(under name: String) -> Bool {
    guard let control = try? SharedObject.open(name: ObjectName.control(name), writable: false),
      let status = try? control.status(),
      status.isRegular
    else { return false }
    if status.size == 0 { return true }
    guard let magic = word(of: control, at: ControlLayout.magic) else { return false }
    return magic == 0 || magic == DataLayout.magicValue && word(of: control, at: ControlLayout.ready) == 0
  }

  private static func word(of object: SharedObject, at offset: Int) -> UInt64? {
    var value: UInt64 = 0
    let count = unsafe pread(object.descriptor, &value, MemoryLayout<UInt64>.size, offset)
    return count == MemoryLayout<UInt64>.size ? value : nil
  }
}
