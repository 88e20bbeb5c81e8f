import TableEngine

/// An array's header as a barrier of this process last met it, and the key of the tail that it names: nearly always the next barrier
/// meets the same header, and need neither read it nor make the key again.
///
/// It is the same if its version is: a key has at most one entry of a version, and that never changes. So a barrier first
/// compares the version of the header that it has found: an array that another process has emptied and begun anew has other nodes.
@safe
struct KnownHeader: @unchecked Sendable {
  // Sendable because it is used in barriers of one table only, and W lets in one of them at a time.
  private let contents: UnsafeMutablePointer<Contents>
  private let key: UnsafeMutableRawPointer

  private struct Contents {
    /// No entry's at first.
    var version = UInt64.max
    var state = ArrayTree.State()
    var keyLength = 0
    var hash: UInt64 = 0
  }

  /// - Parameter keyLength: that of the longest key a node has.
  init(keyLength: Int) {
    unsafe contents = .allocate(capacity: 1)
    unsafe contents.initialize(to: Contents())
    unsafe key = .allocate(byteCount: keyLength, alignment: 1)
  }

  /// Frees the memory; called by the owner's end.
  func deallocate() {
    unsafe contents.deallocate()
    unsafe key.deallocate()
  }

  @inline(__always)
  func isThat(ofVersion version: UInt64) -> Bool { unsafe contents.pointee.version == version }

  /// The array's state without the number of elements in the tail.
  @inline(__always)
  var state: ArrayTree.State { unsafe contents.pointee.state }

  @inline(__always)
  var tailKey: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: key, count: contents.pointee.keyLength) }

  /// The hash of the tail's key.
  @inline(__always)
  var tailHash: UInt64 { unsafe contents.pointee.hash }

  /// - Parameters:
  ///   - key: of the tail, or of anything if there is none.
  ///   - hash: the key's.
  func learn(version: UInt64, _ state: ArrayTree.State, tail key: UnsafeRawBufferPointer, hash: UInt64) {
    unsafe self.key.copyMemory(from: key.baseAddress!, byteCount: key.count)
    unsafe contents.pointee = Contents(version: version, state: state, keyLength: key.count, hash: hash)
  }
}
