#if DEBUG || CheckedReads
  import CShims
  import SharedMemory

  /// Watches over what a participant's read section looks at in place. In builds for finding mistakes only.
  ///
  /// What the section hands out lies in a second mapping of the data object, which is read-only and goes with the section: a
  /// store through one of its pointers, or a look through one that was kept, is SIGSEGV there and then. A store by
  /// another way, from this process or another, is found at the end by checksums of all that was handed out: entries do
  /// not change while a section can see them.
  @safe
  public final class CheckedReadWatch {
    private struct Sight {
      let byteCount: Int
      let checksum: UInt64
      let key: String
    }

    private let data: MappedMemory
    private let mapping: Mapping
    private let seed: UInt64
    /// By the offset of the entry.
    private var sights: [Int: Sight] = [:]

    /// Nil for an observer: it has nothing writable, and what it hands out are copies.
    /// - Throws: `full(.addressSpace)`.
    public init?(_ segment: Segment) throws(EngineError) {
      guard segment.access == .participant else { return nil }
      data = segment.data
      seed = segment.hashSeed
      do throws(SystemError) {
        mapping = try segment.dataObject.map(count: segment.dataMapping.count, writable: false)
      } catch {
        throw EngineError(opening: error)
      }
    }

    /// Gives the entry as it lies in the read-only mapping, and remembers it.
    public func show(_ found: FoundEntry) -> FoundEntry {
      let offset = unsafe found.entry - UnsafeRawPointer(data.base)
      let byteCount = found.meta.byteCount
      if sights[offset] == nil {
        let key = unsafe String.printableStart(found.key)
        sights[offset] = Sight(byteCount: byteCount, checksum: checksum(offset, byteCount), key: key)
      }
      return unsafe FoundEntry(entry: UnsafeRawPointer(mapping.base) + offset, meta: found.meta)
    }

    /// To be called before the section ends.
    /// - Throws: `damaged` naming a key, if anything that was shown is not what it was.
    public func verify() throws(EngineError) {
      for (offset, sight) in sights where checksum(offset, sight.byteCount) != sight.checksum {
        throw .damaged(
          "the entry of '\(sight.key)' changed while a read section looked at it: something stores into the table's memory"
        )
      }
    }

    /// Of all but version and `prev`: an unlink pass may change `prev`.
    private func checksum(_ offset: Int, _ byteCount: Int) -> UInt64 {
      unsafe shm_hash(data.pointer(offset + Entry.meta), byteCount - Entry.meta, seed)
    }
  }
#endif
