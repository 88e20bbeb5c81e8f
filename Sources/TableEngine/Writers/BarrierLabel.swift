import CShims

/// The name of the barrier in flight, for people: the label of the queue that runs it.
///
/// The owner of W stores it, and other threads load it without W: the version says whether it is about the barrier in
/// flight, the hash whether the bytes are whole. A barrier of no queue stores nothing; the label that stands there has
/// an older version, and is not shown.
public struct BarrierLabel: Sendable {
  /// In place of a hash while the label is being stored. A label that has it, one in 2^64, is stored each time and shown as any other.
  private static let unfinished = UInt64.max
  /// The most bytes that are noted: a longer label is cut off there.
  public static let maximumByteCount = SHM_LABEL_BYTES

  private let text: String
  private let hash: UInt64

  public init(_ text: String) {
    self.text = text
    let (words, byteCount) = Self.encoded(text)
    hash = Self.hash(words, byteCount)
  }

  private static func encoded(_ text: String) -> (words: [UInt64], byteCount: Int) {
    let bytes = Array(text.utf8.prefix(maximumByteCount))
    let words = stride(from: 0, to: bytes.count, by: 8).map { start in
      bytes[start..<min(start + 8, bytes.count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    return (words, bytes.count)
  }

  private static func hash(_ words: [UInt64], _ byteCount: Int) -> UInt64 {
    unsafe words.withUnsafeBytes { unsafe $0.isEmpty ? 0 : shm_hash($0.baseAddress!, $0.count, UInt64(byteCount)) }
  }

  /// Under W.
  func note(_ ctl: MappedMemory, version: UInt64) {
    if ctl.loadRelaxed(ControlLayout.labelHash) != hash {
      let (words, byteCount) = Self.encoded(text)
      // First no label's: a writer that dies among the words would leave them under the hash of the label before, which would then be taken for
      // whole, and never be stored again.
      ctl.storeRelaxed(ControlLayout.labelHash, Self.unfinished)
      crashFence()
      for (index, word) in words.enumerated() { ctl.storeRelaxed(ControlLayout.labelWords + index * 8, word) }
      ctl.storeRelaxed(ControlLayout.labelByteCount, UInt64(byteCount))
      crashFence()
      ctl.storeRelaxed(ControlLayout.labelHash, hash)
    }
    ctl.storeRelaxed(ControlLayout.labelVersion, version)
  }

  /// The label of the barrier in flight, if it has one.
  static func current(_ ctl: MappedMemory, committed: UInt64) -> String? {
    guard ctl.loadRelaxed(ControlLayout.labelVersion) == committed &+ 1 else { return nil }
    let count = ctl.loadRelaxed(ControlLayout.labelByteCount)
    guard count <= UInt64(maximumByteCount) else { return nil }
    let words = (0..<(Int(count) + 7) / 8).map { ctl.loadRelaxed(ControlLayout.labelWords + $0 * 8) }
    guard hash(words, Int(count)) == ctl.loadRelaxed(ControlLayout.labelHash) else { return nil }
    return unsafe words.withUnsafeBytes { unsafe String(decoding: $0.prefix(Int(count)), as: UTF8.self) }
  }
}
