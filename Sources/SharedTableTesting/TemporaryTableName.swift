import SharedMemory
import SharedTable
import Synchronization

/// Names of tests' tables. They say which process made them, so that a later one can remove what a killed one left behind, and
/// nobody removes what a running one uses.
enum TemporaryTableName {
  private static let counter = Atomic(0)

  /// `swift-testing.`, the PID namespace, the process, when it began, a number; then words for people.
  static func next(label: String, test: String) -> String {
    let number = counter.add(1, ordering: .relaxed).newValue
    let words = [label, String(test.prefix { $0 != "(" })].map(plain).filter { !$0.isEmpty }
    return ([owner, "\(number)"] + words).joined(separator: ".")
  }

  /// Once a process.
  static let removeLeftOvers: Void = {
    for name in (try? Table.names()) ?? [] where isLeftOver(name) {
      // Also where a maker or dropper that died has left one of the two objects.
      try? Table.drop(name)
    }
  }()

  private static let prefix = "swift-testing"

  private static var owner: String {
    let pid = ProcessIdentity.pid
    return "\(prefix).\(namespace ?? 0).\(pid).\(startTime(of: pid) ?? 0)"
  }

  /// Nil where /proc does not say. No namespace has the number 0.
  private static var namespace: UInt64? { try? ProcessIdentity.pidNamespace() }

  private static func startTime(of pid: Int32) -> UInt64? { try? ProcessIdentity.startTime(of: pid) }

  /// Whether the process that made it, in this PID namespace, is gone. Its number may be another's by now.
  ///
  /// A process that does not know its own namespace judges nothing: the number may be that of a process which it cannot see.
  static func isLeftOver(_ name: String, in namespace: UInt64? = namespace) -> Bool {
    let parts = name.split(separator: ".", maxSplits: 4, omittingEmptySubsequences: false)
    guard let namespace, parts.count == 5, parts[0] == prefix, UInt64(parts[1]) == namespace,
      let pid = Int32(parts[2]), pid > 0, let start = UInt64(parts[3])
    else { return false }
    guard ProcessIdentity.isAlive(pid: pid) else { return true }
    // Where /proc does not say, it may be the same one.
    guard start != 0, let begun = startTime(of: pid) else { return false }
    return begun != start
  }

  private static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter {
          $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_")
        }.prefix(50)))
  }
}
