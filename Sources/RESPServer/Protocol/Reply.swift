import NIOCore
import SharedTable

/// What a connection is to be sent, in its version of the protocol.
@safe
struct Reply: ~Copyable {
  /// A buffer holds 4 GiB.
  static let largest = 1 << 30

  /// Holds the memory, and knows of what is in it when ``buffer`` is asked for.
  private var storage = ByteBuffer()
  /// The storage's memory, and how many bytes it has: most replies are a few bytes, and its own methods look at each write whether the
  /// memory is shared. From ``makeRoom(_:)`` until ``buffer`` is asked for nobody shares or moves it; else this is nil, and there is no room.
  private var memory: UnsafeMutablePointer<UInt8>?
  private var room = 0
  private(set) var count = 0
  /// 2 or 3.
  var version = 2
  /// More bytes than this are answered to no command, nor to a transaction: ``room(for:)``.
  var limit = Self.largest

  /// Where the next reply begins: for ``rollBack(to:)``.
  var position: Int { count }

  mutating func rollBack(to position: Int) {
    precondition(position >= 0 && position <= count)
    count = position
  }

  /// All of it, to be sent.
  var buffer: ByteBuffer {
    mutating get {
      storage.moveWriterIndex(to: count)
      unsafe memory = nil
      room = 0
      return storage
    }
  }

  /// More room than this is not kept for the replies to come: each idle connection has it.
  private static let mostKept = 4 << 10

  /// Begins anew, in the same memory unless it is much, or the socket has not taken all that is in it.
  mutating func clear() {
    unsafe memory = nil
    room = 0
    count = 0
    if storage.storageCapacity > Self.mostKept { storage = ByteBuffer() } else { storage.clear(minimumCapacity: 512) }
  }

  mutating func append(_ other: borrowing Reply) {
    guard let source = unsafe other.memory else { return }
    unsafe append(UnsafeRawBufferPointer(start: source, count: other.count))
  }

  // MARK: - Lines

  mutating func simple(_ text: StaticString) {
    literal("+")
    literal(text)
    literal("\r\n")
  }

  mutating func ok() { literal("+OK\r\n") }

  /// - Parameter message: with the code that Redis begins it with.
  mutating func error(_ message: String) { error(Array(message.utf8)) }

  mutating func error(_ message: [UInt8]) {
    // What a client sent may be in it.
    var message = message
    while let last = message.last, last == 10 || last == 13 { message.removeLast() }
    literal("-")
    unsafe message.map { $0 == 10 || $0 == 13 ? ASCII.space : $0 }.withUnsafeBytes { unsafe append($0) }
    literal("\r\n")
  }

  mutating func simple(_ text: String) {
    literal("+")
    append(text)
    literal("\r\n")
  }

  mutating func integer(_ value: Int) { header(UInt8(ascii: ":"), value) }

  mutating func array(_ count: Int) { header(UInt8(ascii: "*"), count) }
  /// Of so many pairs.
  mutating func map(_ count: Int) { version == 3 ? header(UInt8(ascii: "%"), count) : array(count * 2) }
  mutating func set(_ count: Int) { header(UInt8(ascii: version == 3 ? "~" : "*"), count) }
  /// What a client did not ask for.
  mutating func push(_ count: Int) { header(UInt8(ascii: version == 3 ? ">" : "*"), count) }

  mutating func null() { if version == 3 { literal("_\r\n") } else { literal("$-1\r\n") } }
  mutating func nullArray() { literal(version == 3 ? "_\r\n" : "*-1\r\n") }

  // MARK: - Strings

  mutating func bulk(_ bytes: Bytes) { unsafe bulk(bytes.raw) }

  mutating func bulk(_ bytes: [UInt8]) { bytes.withBytes { bulk($0) } }

  mutating func bulk(_ text: String) {
    var text = text
    text.withUTF8 { unsafe bulk(UnsafeRawBufferPointer($0)) }
  }

  mutating func bulk(_ bytes: UnsafeRawBufferPointer) {
    let count = bytes.count
    unsafe write(most: count + 28) { target in
      var index = unsafe Self.header(UInt8(ascii: "$"), count, target)
      if let source = bytes.baseAddress {
        unsafe UnsafeMutableRawPointer(target + index).copyMemory(from: source, byteCount: count)
      }
      index += count
      unsafe target[index] = ASCII.carriageReturn
      unsafe target[index + 1] = ASCII.lineFeed
      return index + 2
    }
  }

  /// Text for people: of no format that a program should read.
  mutating func verbatim(_ text: String) {
    guard version == 3 else { return bulk(text) }
    header(UInt8(ascii: "="), text.utf8.count + 4)
    literal("txt:")
    append(text)
    literal("\r\n")
  }

  // MARK: -

  /// Appends what `body` writes, at most so many bytes: it returns how many.
  @inline(__always)
  private mutating func write(most: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
    if room &- count < most { makeRoom(most) }
    count &+= unsafe body(memory! + count)
  }

  @inline(never)
  private mutating func makeRoom(_ most: Int) {
    storage.moveWriterIndex(to: count)
    storage.reserveCapacity(minimumWritableBytes: most)
    unsafe storage.withVeryUnsafeMutableBytes { bytes in
      unsafe memory = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
      room = bytes.count
    }
  }

  private mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { unsafe append(UnsafeRawBufferPointer($0)) }
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0, let source = bytes.baseAddress else { return }
    unsafe write(most: bytes.count) { target in
      unsafe UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: bytes.count)
      return bytes.count
    }
  }

  /// What stands in the program.
  @inline(__always)
  private mutating func literal(_ line: StaticString) {
    let count = line.utf8CodeUnitCount
    unsafe write(most: count) { target in
      unsafe target.update(from: line.utf8Start, count: count)
      return count
    }
  }

  private mutating func header(_ type: UInt8, _ number: Int) {
    unsafe write(most: 24) { unsafe Self.header(type, number, $0) }
  }

  /// The type, the number and the end of the line.
  private static func header(_ type: UInt8, _ number: Int, _ target: UnsafeMutablePointer<UInt8>) -> Int {
    unsafe target[0] = type
    var index = 1
    if number < 0 {
      unsafe target[1] = ASCII.minus
      index = 2
    }
    var rest = number.magnitude
    if rest < 10 {
      unsafe target[index] = ASCII.zero + UInt8(truncatingIfNeeded: rest)
      index += 1
    } else {
      var digits = 1
      var power: UInt = 10
      while digits < 20, rest >= power {
        digits += 1
        let (next, overflow) = power.multipliedReportingOverflow(by: 10)
        if overflow { break }
        power = next
      }
      for position in (index..<index + digits).reversed() {
        unsafe target[position] = ASCII.zero + UInt8(rest % 10)
        rest /= 10
      }
      index += digits
    }
    unsafe target[index] = ASCII.carriageReturn
    unsafe target[index + 1] = ASCII.lineFeed
    return index + 2
  }
}
