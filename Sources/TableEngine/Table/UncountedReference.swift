/// A reference that is not counted, to an object that somebody else holds for as long as this is used: for paths on which
/// counting would be a good part of the work.
@frozen @safe
public struct UncountedReference<Object: AnyObject> {
  @usableFromInline let reference: Unmanaged<Object>

  /// `object` must outlive every ``with(_:)``.
  @inlinable @unsafe
  public init(_ object: Object) { unsafe reference = .passUnretained(object) }

  /// Runs `body` with the object.
  @inlinable @inline(__always)
  public func with<R>(_ body: (Object) -> R) -> R { unsafe reference._withUnsafeGuaranteedRef(body) }

  /// Runs `body`, which may throw, with the object.
  @inlinable @inline(__always)
  public func with<R, E: Error>(_ body: (Object) throws(E) -> R) throws(E) -> R {
    let outcome = unsafe reference._withUnsafeGuaranteedRef { object -> Result<R, E> in
      do throws(E) {
        return .success(try body(object))
      } catch {
        return .failure(error)
      }
    }
    // Taken apart here: `get()` would leave the runtime to destroy what an error might hold.
    switch consume outcome {
    case .success(let result): return result
    case .failure(let error): throw error
    }
  }
}

// The objects that are reached through it are as sendable as before.
extension UncountedReference: @unchecked Sendable where Object: Sendable {}
