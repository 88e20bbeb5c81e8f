import SharedTable
import ToolSupport

/// What keys and values of the other store are in the table.
struct EntryForm {
  /// The table's name, for errors.
  let table: String
  let settings: MirrorSettings

  var prefix: [UInt8] { settings.address.prefix }
  var expiresLeases: Bool { settings.leases == .expire }
  var leaseGrace: UInt64 { settings.leaseGrace.clampedNanoseconds }

  /// A key's name in the table.
  /// - Throws: `invalid` if it has none.
  func tableKey(_ key: UnsafeRawBufferPointer) throws(TableError) -> UnsafeRawBufferPointer {
    guard key.count > prefix.count, unsafe key.starts(with: prefix) else {
      throw TableError(
        .invalid, table: table,
        "the other store sent the key '\(unsafe String.quotable(Array(key.prefix(64))))', which is not below the prefix; is that an etcd "
          + "of version 3.4 or later?")
    }
    let name = unsafe UnsafeRawBufferPointer(rebasing: key[prefix.count...])
    if unsafe name.elementsEqual(Table.Upstream.key.utf8) {
      throw TableError(
        .invalid, table: table,
        "the other store has a key '\(Table.Upstream.key)' below the prefix, where the table keeps its state; remove it there"
      )
    }
    return unsafe name
  }

  /// Gives an error about one key its name; of `full` it is not the key's fault.
  func naming(
    _ key: UnsafeRawBufferPointer, _ body: () throws(TableError) -> Void
  ) throws(TableError) {
    do throws(TableError) {
      try body()
    } catch {
      if error.code == .full { throw error }
      throw TableError(
        error.code, table: table, "key '\(unsafe String.quotable(Array(key.prefix(64))))': \(error.message)")
    }
  }

  func type(of value: UnsafeRawBufferPointer) -> ValueType { unsafe settings.valueForm.type(of: value) }
}
