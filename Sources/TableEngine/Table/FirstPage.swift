import CShims
import Glibc
import SharedMemory

/// The first page of an object, looked at before the object is mapped.
enum FirstPage {
  static let byteCount = 4096

  /// Maps the page read-only for the length of the call.
  /// - Precondition: the object has at least `byteCount` bytes, or the first access is a SIGBUS.
  static func with<R>(_ object: SharedObject, _ body: (MappedMemory) -> R) throws(SystemError) -> R {
    let mapping = try object.map(count: byteCount, writable: false)
    return withExtendedLifetime(mapping) { unsafe body(MappedMemory(base: mapping.base)) }
  }
}
