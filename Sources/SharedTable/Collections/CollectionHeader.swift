import Glibc

/// What lies under a collection's name: what it is and how many elements it has, an array without those in its tail.
///
/// ```
/// five numbers u64 | signature, such as "dictionary of string to integer"
/// ```
/// The numbers are the collection's state; what they mean is its own business, and those that it has no use for are 0.
/// The *signature* is its kind and its types. A fingerprint keeps others from taking it for a struct of theirs.
struct CollectionHeader: TableValue {
  let numbers: Numbers
  let signature: String

  /// A collection's state.
  typealias Numbers = InlineArray<5, Int>

  static var tableType: ValueType { .structure }
  static let tableFingerprint = Fingerprint.named("SharedTable.CollectionHeader")

  private static var numberBytes: Int { 8 * Numbers.count }

  init(_ signature: String, _ numbers: Numbers) {
    self.signature = signature
    self.numbers = numbers
  }

  func withTableBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe signature.withKeyBytes { signature throws(E) in try unsafe Self.withBytes(of: numbers, signature, body) }
  }

  /// Calls `body` with the bytes of a header.
  static func withBytes<R, E: Error>(
    of numbers: Numbers, _ signature: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let length = numberBytes + signature.count
    let result: Result<R, E> = unsafe withUnsafeTemporaryAllocation(byteCount: length, alignment: 8) { place in
      for index in numbers.indices {
        unsafe place.storeBytes(of: numbers[index], toByteOffset: 8 * index, as: Int.self)
      }
      unsafe UnsafeMutableRawBufferPointer(rebasing: place[numberBytes..<length]).copyMemory(from: signature)
      do throws(E) {
        return .success(try unsafe body(UnsafeRawBufferPointer(rebasing: place[..<length])))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Nil if the bytes are no header: too short, a number that is negative, a signature that is no UTF-8.
  init?(tableBytes: UnsafeRawBufferPointer) {
    guard let numbers = unsafe Self.numbers(tableBytes),
      let signature = unsafe String(tableBytes: UnsafeRawBufferPointer(rebasing: tableBytes[Self.numberBytes...]))
    else { return nil }
    self.init(signature, numbers)
  }

  /// Is it a header of this signature, whatever its state?
  @inline(__always)
  static func isOf(_ bytes: UnsafeRawBufferPointer, _ signature: UnsafeRawBufferPointer) -> Bool {
    unsafe bytes.count == numberBytes &+ signature.count
      && memcmp(bytes.baseAddress! + numberBytes, signature.baseAddress!, signature.count) == 0
  }

  /// The state, read where it lies. Nil if a number is missing, negative, or so large that sums of some of them would be no
  /// `Int`.
  @inline(__always)
  static func numbers(_ bytes: UnsafeRawBufferPointer) -> Numbers? {
    guard bytes.count >= numberBytes else { return nil }
    var numbers = Numbers(repeating: 0)
    var all = 0
    for index in numbers.indices {
      numbers[index] = unsafe bytes.loadUnaligned(fromByteOffset: 8 * index, as: Int.self)
      all |= numbers[index]
    }
    return all >> 60 == 0 ? numbers : nil
  }
}

/// A type's name in a signature: programs that agree in it read each other's values.
func signature<T: TableValue>(of type: T.Type) -> String {
  T.tableFingerprint == 0 ? T.tableType.name : "\(T.tableType.name)#\(String(T.tableFingerprint, radix: 16))"
}
