import CShims
import SharedMemory
import Synchronization

/// The layouts of the types used so far, each worked out once. They live as long as the process.
@usableFromInline
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
    if let layout = unsafe recentLayout(ObjectIdentifier(type)) { return unsafe layout.takeUnretainedValue() }
    return find(type)
  }

  /// Not counted: layouts stay. To count one costs more than to look at a struct's bits.
  @inline(__always)
  private static func recentLayout(_ type: ObjectIdentifier) -> Unmanaged<StructLayout>? {
    // PAIR struct-layouts. Other end: StructLayouts.find. Acquire: what the layout says was stored before.
    let word = unsafe shm_load_acquire(recent.word(of: type))
    guard let address = unsafe UnsafeRawPointer(bitPattern: UInt(word)) else { return nil }
    let layout = unsafe Unmanaged<StructLayout>.fromOpaque(address)
    return unsafe layout._withUnsafeGuaranteedRef { $0.type == type } ? layout : nil
  }

  @inline(never)
  private static func find<T: SharedStruct>(_ type: T.Type) -> StructLayout {
    let id = ObjectIdentifier(type)
    // Without the lock: the type's name and the cases of its enums are the program's code, which may use other structs.
    let layout = withKnown { $0[id] } ?? enter(make(type))
    // PAIR struct-layouts. Other end: StructLayouts.recentLayout. Release: who finds the word sees the layout.
    unsafe shm_store_release(recent.word(of: id), UInt64(UInt(bitPattern: Unmanaged.passUnretained(layout).toOpaque())))
    return layout
  }

  /// - Returns: the layout that the type has from now on: the given one, unless another thread was faster.
  private static func enter(_ layout: StructLayout) -> StructLayout {
    withKnown { known in
      if let first = known[layout.type] { return first }
      known[layout.type] = layout
      return layout
    }
  }

  /// So that a child inherits the lock free.
  private static func withKnown<R>(_ body: (inout sending [ObjectIdentifier: StructLayout]) -> sending R) -> R {
    ForkLock.hold { known.withLock(body) }
  }

  private static func make<T: SharedStruct>(_ type: T.Type) -> StructLayout {
    do throws(LayoutRefusal) {
      return try StructLayout(type, schemaName: T.schemaName)
    } catch {
      fatalError(error.description)
    }
  }
}

/// What every read and write of a struct asks. The generic functions are compiled where they are used, for the struct's type. What those call
/// each time is not generic: generic code of this library would look the type up at run time.
extension StructLayouts {
  @inlinable
  static func fingerprint<T: SharedStruct>(of type: T.Type) -> UInt64 {
    let known = recentFingerprint(ObjectIdentifier(type))
    return _fastPath(known != 0) ? known : firstFingerprint(of: type)
  }

  /// Are these bytes, of the struct's size, a value?
  @inlinable
  static func accept<T: SharedStruct>(_ bytes: UnsafeRawBufferPointer, as type: T.Type) -> Bool {
    unsafe recentAccepts(bytes, ObjectIdentifier(type)) ?? firstAccepts(bytes, as: type)
  }

  /// Makes the bytes that lie between a struct's fields zeros.
  /// - Parameter bytes: all of the struct.
  @inlinable
  static func clearPadding<T: SharedStruct>(_ bytes: UnsafeMutableRawBufferPointer, of type: T.Type) {
    if unsafe !recentClearsPadding(bytes, ObjectIdentifier(type)) { unsafe firstClearsPadding(bytes, of: type) }
  }

  /// 0 if the type is not among those used last.
  @usableFromInline
  static func recentFingerprint(_ type: ObjectIdentifier) -> UInt64 {
    guard let layout = unsafe recentLayout(type) else { return 0 }
    return unsafe layout._withUnsafeGuaranteedRef { $0.fingerprint }
  }

  /// Nil if the type is not among those used last.
  @usableFromInline
  static func recentAccepts(_ bytes: UnsafeRawBufferPointer, _ type: ObjectIdentifier) -> Bool? {
    guard let layout = unsafe recentLayout(type) else { return nil }
    return unsafe layout._withUnsafeGuaranteedRef { unsafe $0.accepts(bytes) }
  }

  /// - Returns: false with nothing done if the type is not among those used last.
  @usableFromInline
  static func recentClearsPadding(_ bytes: UnsafeMutableRawBufferPointer, _ type: ObjectIdentifier) -> Bool {
    guard let layout = unsafe recentLayout(type) else { return false }
    unsafe layout._withUnsafeGuaranteedRef { unsafe $0.clearPadding(bytes) }
    return true
  }

  @usableFromInline @inline(never)
  static func firstFingerprint<T: SharedStruct>(of type: T.Type) -> UInt64 { of(type).fingerprint }

  @usableFromInline @inline(never)
  static func firstAccepts<T: SharedStruct>(_ bytes: UnsafeRawBufferPointer, as type: T.Type) -> Bool {
    unsafe of(type).accepts(bytes)
  }

  @usableFromInline @inline(never)
  static func firstClearsPadding<T: SharedStruct>(_ bytes: UnsafeMutableRawBufferPointer, of type: T.Type) {
    unsafe of(type).clearPadding(bytes)
  }
}
