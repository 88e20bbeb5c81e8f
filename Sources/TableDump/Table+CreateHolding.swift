package import SharedTable
import TableEngine

extension Table {
  /// Makes a table that holds what another one does from its first moment on. No process can open it before it is whole. If this process dies
  /// meanwhile, the next one that makes a table of the name removes what there is.
  ///
  /// Blocks for the copy: some seconds for a million keys.
  /// - Parameters:
  ///   - name: the new table's.
  ///   - other: its newest version is copied, in one section. What has expired is left out.
  ///   - version: the version of all entries. The table hands out higher ones only: above those of a table that had the name before, nobody who
  ///     kept one of its versions takes a value for another.
  /// - Throws: `exists`, `full`, `tooLarge`, and what reading `other` throws. Nothing was made then.
  package static func create(
    _ name: String, _ options: Options, holding other: Table, version: UInt64, timeout: Duration
  ) throws(TableError) -> Table {
    // What the caller is told: an error of `other` ends the load by another one.
    var failure: TableError?
    do throws(EngineError) {
      let load = TableLoad(base: version) { loader throws(EngineError) in
        do {
          try other.read { view in
            try view.forEachRecord { record in
              try unsafe loader.putIfAbsent(record.key, record.value, record.attributes, version: version)
            }
          }
        } catch let error as EngineError {
          throw error
        } catch {
          failure = error as? TableError
          throw .damaged("the table to be copied cannot be read")
        }
        _ = loader.finish()
      }
      return Table(try Segment.create(name, options, load: load), timeout: timeout, clock: ExpiryClock())
    } catch {
      throw failure ?? TableError(making: error, table: name)
    }
  }
}

extension Table.Options {
  /// About how much of /dev/shm a table claims that is made by these options and holds what another one does.
  /// - Throws: `invalid` for another name than a table can have.
  package func bytesClaimed(holding other: Table) throws(TableError) -> Int {
    if preallocate { return Geometry(capacityBytes: capacityBytes).preallocatedBytes }
    let objects = try Table.objects(of: other.name)
    return [objects.data, objects.control].reduce(0) { $0 + ($1?.status.allocated ?? 0) }
  }
}

extension Table {
  /// From now on the table keeps the memory that it has claimed, and its options say `preallocate`. It claims no more by that: a copy for a
  /// while takes no memory that its successor will need. For participants.
  package func keepMemory() { segment.controlMemory?.storeRelaxed(ControlLayout.keepsMemory, 1) }
}
