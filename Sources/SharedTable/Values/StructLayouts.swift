import CShims
import SharedMemory
import Synchronization

/// The layouts of the types used so far, each worked out once. They live as long as the process.
enum StructLayouts {
  private static let known = Mutex<[ObjectIdentifier: StructLayout]>([:])

  /// The layouts used last, each in the place that its type's address says; 0 where there is none. So a read of a struct finds its
  /// layout without a lock.
  @safe private struct Recent: @unchecked Sendable {
    // Sendable because the words are used by atomics only, and the address never changes.
    static let count = 256
    let words: UnsafeMutablePointer<UInt64>

    init() {
      unsafe words = .allocate(capacity: Self.count)
      unsafe words.initialize(repeating: 0, count: Self.count)
    }

    func word(of type: ObjectIdentifier) -> UnsafeMutableRawPointer {
      let address = UInt(bitPattern: type)
      return unsafe UnsafeMutableRawPointer(words + Int((address >> 4 ^ address >> 12) % UInt(Self.count)))
    }
  }

  private static let recent = Recent()

  /// The first use of a type with a field that cannot be shared ends the process.
  static func of<T: SharedStruct>(_ type: T.Type) -> StructLayout {
    let id = ObjectIdentifier(type)
    // PAIR struct-layouts. Other end: StructLayouts.find. Acquire: what the layout says was stored before.
    let word = unsafe shm_load_acquire(recent.word(of: id))
    if let address = unsafe UnsafeRawPointer(bitPattern: UInt(word)) {
      let layout = unsafe Unmanaged<StructLayout>.fromOpaque(address).takeUnretainedValue()
      if layout.type == id { return layout }
    }
    return find(type)
  }

  @inline(never)
  private static func find<T: SharedStruct>(_ type: T.Type) -> StructLayout {
    let id = ObjectIdentifier(type)
    let layout = known.withLock { known in
      if let layout = known[id] { return layout }
      let layout = make(type)
      known[id] = layout
      return layout
    }
    // PAIR struct-layouts. Other end: StructLayouts.of. Release: who finds the word sees the layout.
    unsafe shm_store_release(recent.word(of: id), UInt64(UInt(bitPattern: Unmanaged.passUnretained(layout).toOpaque())))
    return layout
  }

  private static func make<T: SharedStruct>(_ type: T.Type) -> StructLayout {
    do throws(LayoutRefusal) {
      return try StructLayout(type, schemaName: T.schemaName)
    } catch {
      fatalError(error.description)
    }
  }
}
