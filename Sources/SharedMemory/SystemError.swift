import CShims
import Glibc

/// A system call that failed: which one, and the number it gave.
///
/// Its description is what a person wants to read: `shm_open: Permission denied (EACCES)`.
public struct SystemError: Error, Equatable, Sendable {
  /// The C function or system call, as its manual page is called.
  public let call: StaticString
  /// The error number; compare it with `EACCES`, `ENOSPC` and so on.
  public let errno: Int32

  public init(call: StaticString, errno: Int32) {
    self.call = call
    self.errno = errno
  }

  public static func == (a: SystemError, b: SystemError) -> Bool {
    a.errno == b.errno && a.call.description == b.call.description
  }

  /// The file system, a quota or the limit on file sizes leaves no room: what `full` is made from.
  public var isOutOfSpace: Bool { Self.isOutOfSpace(errno) }

  /// As ``isOutOfSpace``, for a number that another library gives.
  public static func isOutOfSpace(_ errno: Int32) -> Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }

  /// The number's name, `EACCES`; nil for a number the C library does not know.
  public var name: String? { unsafe shmos_errno_name(errno).map { unsafe String(cString: $0) } }
}

extension SystemError: CustomStringConvertible {
  public var description: String {
    guard let name, let text = unsafe shmos_errno_description(errno) else { return "\(call): error \(errno)" }
    return unsafe "\(call): \(String(cString: text)) (\(name))"
  }
}

/// The shims' convention, a result or `-errno`, as a typed throw.
@discardableResult
@inlinable @inline(__always)
package func check(_ call: StaticString, _ result: Int32) throws(SystemError) -> Int32 {
  if result < 0 { throw SystemError(call: call, errno: 0 &- result) }
  return result
}
