/// Bytes that do not change, in memory of their own: of the names that keys are made of at each use.
///
/// An array's bytes would be handed on by counting a reference, which takes more instructions than to copy them. Here the owner
/// counts: whoever uses the bytes keeps it alive.
@usableFromInline @safe
struct KeptBytes: @unchecked Sendable {
  // Sendable because nothing changes between the initialiser and `deallocate`.
  @usableFromInline let start: UnsafeRawPointer
  @usableFromInline let count: Int

  /// The memory has room for so many bytes at least.
  @inlinable static var room: Int { 32 }

  init(_ source: [UInt8]) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(Self.room, source.count), alignment: 1)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    unsafe memory.copyBytes(from: source)
    unsafe start = UnsafeRawPointer(memory.baseAddress!)
    count = source.count
  }

  private init(_ start: UnsafeRawPointer, count: Int) {
    unsafe self.start = start
    self.count = count
  }

  /// All but the last, in the same memory: of the same owner.
  func dropLast() -> KeptBytes { unsafe KeptBytes(start, count: count - 1) }

  /// Copies them to where there is ``room`` at least, all of which may be overwritten: a copy of a length that the compiler knows is no
  /// call, and most names are short.
  @inlinable @inline(__always)
  func copy(to place: UnsafeMutableRawPointer) {
    if count <= Self.room {
      unsafe place.copyMemory(from: start, byteCount: Self.room)
    } else {
      unsafe place.copyMemory(from: start, byteCount: count)
    }
  }

  /// By the owner's end.
  func deallocate() { unsafe start.deallocate() }

  @inlinable var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: start, count: count) }
  /// A copy.
  var array: [UInt8] { unsafe [UInt8](bytes) }
}
