import CShims
import Glibc
import TableEngine

/// One thing that peers must agree on, in a form that a test can alter.
struct FormatItem: Sendable, CustomStringConvertible {
  var owner: String
  var name: String
  var value: UInt64
  var size: UInt64

  init(_ item: shm_format_item) {
    owner = String(cString: item.owner)
    name = String(cString: item.name)
    value = item.value
    size = item.size
  }

  var description: String { "\(owner).\(name) at \(value), \(size) bytes" }
}

extension [FormatItem] {
  var hash: UInt64 {
    let items = map { shm_format_item(owner: strdup($0.owner), name: strdup($0.name), value: $0.value, size: $0.size) }
    defer {
      for item in items {
        free(UnsafeMutableRawPointer(mutating: item.owner))
        free(UnsafeMutableRawPointer(mutating: item.name))
      }
    }
    return LayoutHash.hash(of: items)
  }
}
