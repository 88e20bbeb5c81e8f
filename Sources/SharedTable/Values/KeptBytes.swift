/// Bytes that do not change, in memory of their own: of the names that keys are made of at each use.
///
/// An array's bytes would be handed on by counting a reference, which takes more instructions than to copy them. Here the owner
/// counts: whoever uses the bytes keeps it alive.
@usableFromInline @safe
struct KeptBytes: @unchecked Sendable {
  // Sendable because nothing changes between the initialiser and `deallocate`.
  @usableFromInline let bytes: UnsafeRawBufferPointer

  init(_ source: [UInt8]) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 1)
    unsafe memory.copyBytes(from: source)
    unsafe bytes = UnsafeRawBufferPointer(memory)
  }

  /// By the owner's end.
  func deallocate() { unsafe bytes.deallocate() }

  var count: Int { unsafe bytes.count }
  /// A copy.
  var array: [UInt8] { unsafe [UInt8](bytes) }
}
