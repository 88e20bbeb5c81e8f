import SharedTable
import ToolSupport

/// How figures are worded for people, the same in every command.
enum Phrase {
  static func time(_ nanoseconds: UInt64) -> String { "\(RoundedTime(nanoseconds: nanoseconds))" }

  static func count(_ number: Int, _ one: String, _ many: String) -> String { "\(number) \(number == 1 ? one : many)" }

  static func size(_ bytes: Int) -> String { "\(ByteCount(bytes: bytes))" }

  /// With the exact number where that says more.
  static func exactSize(_ bytes: Int?) -> String {
    guard let bytes else { return "?" }
    return bytes < 1024 ? size(bytes) : "\(size(bytes)) (\(bytes))"
  }

  static func percent(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "?" }
    // Full is full, and something is not nothing.
    if part > 0, part < whole / 100 { return "<1%" }
    return "\(min(100, part / max(1, whole / 100)))%"
  }

  static func mode(_ bits: UInt32) -> String {
    let digits = String(bits, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  static func user(_ user: Table.Owner) -> String { user.name ?? "\(user.id)" }

  static func who(_ holder: Table.Holder) -> String {
    let held = holder.heldNanoseconds.map { " for \(time($0))" } ?? ""
    let queue = holder.label.map { ", in a barrier of queue '\($0)'" } ?? ""
    return "\(holder.command) (pid \(holder.pid), thread \(holder.tid))\(held)\(queue)"
  }

  /// What a thread with a slot does just now.
  static func doing(_ reader: Table.Reader, at version: UInt64) -> String {
    if reader.holdsKeyLocks { return "in a barrier of some keys" }
    switch reader.wait {
    case .barrier: return "waits for the barrier before it"
    case .keys: return "waits for keys that another has locked"
    case .reading: return "waits to read until the barrier ends"
    case nil: break
    }
    guard let at = reader.version else { return reader.purpose == .presence ? "present" : "idle" }
    let what = reader.isLongSnapshot ? "snapshot" : "reading"
    var text = "\(what) at version \(at), \(lag(at, version)) behind"
    if reader.isEvicted { text += ", evicted" }
    if let stalled = reader.inTheWayNanoseconds { text += ", in the way for \(time(stalled))" }
    if reader.keptBytes > 0 { text += ", keeps \(size(reader.keptBytes))" }
    return text
  }

  /// A reader may have begun at a version that came after ours was read.
  static func lag(_ reader: UInt64, _ version: UInt64) -> UInt64 { version > reader ? version - reader : 0 }
}
