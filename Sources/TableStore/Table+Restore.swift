import SharedMemory
public import SharedTable
import TableEngine

extension Table {
  /// Makes a table anew from its store, with its values, types, expiry times and versions.
  ///
  /// Nobody sees it before it is whole; whoever dies meanwhile leaves nothing. What has expired is left out. New versions are
  /// above every version that the table before ever had, also those that were lost.
  ///
  /// Blocks for reading the store: some three seconds for a million keys with values of 100 bytes.
  /// - Parameters:
  ///   - name: the table's.
  ///   - options: of the table to be made. Its capacity must have room for what the store holds.
  ///   - directory: where stores lie.
  ///   - disk: the name of an SQLite VFS; nil: the system's. For tests.
  ///   - goesOn: this thread asks it every few thousand rows, or few megabytes, that it reads or claims, so that a daemon can ping its watchdog
  ///     meanwhile. If it says no, nothing is made, and the store's rows stay as they are.
  /// - Returns: nil if the table has no store.
  public static func restore(
    _ name: String, _ options: Options = Options(), from directory: StoreDirectory, timeout: Duration = defaultTimeout,
    disk: String? = nil, goesOn: () -> Bool = { true }
  ) throws(StoreError) -> Table? {
    try withoutActuallyEscaping(goesOn) { goesOn throws(StoreError) in
      try restore(name, options, from: directory, timeout: timeout, disk: disk, goingOn: goesOn)
    }
  }

  private static func restore(
    _ name: String, _ options: Options, from directory: StoreDirectory, timeout: Duration, disk: String?,
    goingOn goesOn: @escaping () -> Bool
  ) throws(StoreError) -> Table? {
    try directory.prepare()
    guard let store = try Store.open(name, in: directory, disk: disk) else { return nil }
    defer { store.close() }
    // The loader says that what the file holds is on the disk.
    try store.syncFile()
    try requireRoom(in: store)
    let isMirror = options.features.contains(.mirror)
    let staysMirror = isMirror && store.isOfMirror
    var failure: StoreError?
    let now = HostClock.realtimeNanoseconds
    let table: Table
    do throws(EngineError) {
      let segment = try Segment.create(
        name, options,
        load: TableLoad(base: VersionEpoch.base(after: store.applied)) { loader throws(EngineError) in
          do throws(Store.Failure) {
            try unsafe store.load(
              into: loader, isMirror: isMirror, now: now,
              adapting: { key, value in unsafe adapt(key, value, staysMirror: staysMirror) }, goesOn)
            loader.markStored(upTo: store.applied)
          } catch {
            switch error {
            case .table(let error): throw error
            case .store(let error):
              // Ends the load; what the caller is told is the store's own error.
              failure = error
              throw .damaged("its store cannot be read")
            }
          }
        }, goesOn: goesOn)
      table = Table(segment, timeout: timeout, clock: ExpiryClock())
    } catch {
      throw failure ?? StoreError(TableError(error, table: name), store.path)
    }
    return table
  }

  /// Writes to the store before anything is read from it: what ends a restore writes, too, and on a full disk a large store would be read whole and
  /// thrown away, each time that it is tried.
  private static func requireRoom(in store: Store) throws(StoreError) {
    do throws(StoreError) {
      try store.commitAgain()
    } catch {
      guard error.code == .noSpace else { throw error }
      throw StoreError(
        .noSpace, store.path,
        "no room on the file system, and a table comes back only where its store can be written; free some: it is tried again each minute, and "
          + "at a reload")
    }
  }

  /// What becomes of a mirror's status in the table that comes back; any other key stays as it is.
  ///
  /// Of a mirror that was one it loses the steady clock's reading at its last look: that clock began anew with the host. Else it is left out:
  /// the keys become this host's own, or were that, and a mirror would take them for the other store's. A table of its own can have such a
  /// text from a mirror's dump.
  private static func adapt(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, staysMirror: Bool
  ) -> Store.Adaptation {
    guard unsafe key.elementsEqual(Upstream.key.utf8),
      var status = unsafe UpstreamStatus(text: String(decoding: value, as: UTF8.self))
    else { return .keep }
    guard staysMirror else { return .leaveOut }
    status.asOfMonotonic = 0
    return .replace(Array(status.text.utf8))
  }
}
