import NIOCore
import SharedTable

/// What a connection is to be sent, in its version of the protocol.
struct Reply {
  /// More than this is answered to no command: a buffer holds 4 GiB.
  static let largest = 1 << 30

  var buffer = ByteBuffer()
  /// 2 or 3.
  var version = 2

  var count: Int { buffer.readableBytes }
  /// Where the next reply begins: for ``rollBack(to:)``.
  var position: Int { buffer.writerIndex }

  mutating func rollBack(to position: Int) { buffer.moveWriterIndex(to: position) }

  /// More room than this is not kept for the replies to come: each idle connection has it.
  private static let mostKept = 4 << 10

  /// Begins anew, in the same memory unless it is much, or the socket has not taken all that is in it.
  mutating func clear() {
    if buffer.storageCapacity > Self.mostKept { buffer = ByteBuffer() } else { buffer.clear(minimumCapacity: 512) }
  }

  mutating func append(_ other: Reply) { _ = buffer.writeImmutableBuffer(other.buffer) }

  // MARK: - Lines

  mutating func simple(_ text: StaticString) { line(UInt8(ascii: "+"), text.description) }

  mutating func ok() { literal("+OK\r\n") }

  /// - Parameter message: with the code that Redis begins it with.
  mutating func error(_ message: String) { error(Array(message.utf8)) }

  mutating func error(_ message: [UInt8]) {
    // What a client sent may be in it.
    var message = message
    while let last = message.last, last == 10 || last == 13 { message.removeLast() }
    let oneLine = message.map { $0 == 10 || $0 == 13 ? ASCII.space : $0 }
    buffer.writeInteger(UInt8(ascii: "-"))
    buffer.writeBytes(oneLine)
    buffer.writeStaticString("\r\n")
  }

  mutating func simple(_ text: String) { line(UInt8(ascii: "+"), text) }

  mutating func integer(_ value: Int) { header(UInt8(ascii: ":"), value) }

  mutating func array(_ count: Int) { header(UInt8(ascii: "*"), count) }
  /// Of so many pairs.
  mutating func map(_ count: Int) { version == 3 ? header(UInt8(ascii: "%"), count) : array(count * 2) }
  mutating func set(_ count: Int) { header(UInt8(ascii: version == 3 ? "~" : "*"), count) }
  /// What a client did not ask for.
  mutating func push(_ count: Int) { header(UInt8(ascii: version == 3 ? ">" : "*"), count) }

  mutating func null() { if version == 3 { literal("_\r\n") } else { literal("$-1\r\n") } }
  mutating func nullArray() { buffer.writeStaticString(version == 3 ? "_\r\n" : "*-1\r\n") }

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
    buffer.writeStaticString("txt:")
    buffer.writeString(text)
    buffer.writeStaticString("\r\n")
  }

  // MARK: -

  /// Appends what `body` writes, at most so many bytes: it returns how many. Without the slices of `writeWithUnsafeMutableBytes`.
  @inline(__always)
  private mutating func write(most: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
    buffer.reserveCapacity(minimumWritableBytes: most)
    let start = buffer.writerIndex
    let count = unsafe buffer.withVeryUnsafeMutableBytes { storage in
      unsafe body((storage.baseAddress! + start).assumingMemoryBound(to: UInt8.self))
    }
    buffer.moveWriterIndex(forwardBy: count)
  }

  /// A whole line, without the calls of `writeStaticString`.
  @inline(__always)
  private mutating func literal(_ line: StaticString) {
    let count = line.utf8CodeUnitCount
    unsafe write(most: count) { target in
      unsafe target.update(from: line.utf8Start, count: count)
      return count
    }
  }

  private mutating func line(_ type: UInt8, _ text: String) {
    buffer.writeInteger(type)
    buffer.writeString(text)
    buffer.writeStaticString("\r\n")
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
