/// What an asynchronous closure returned, without its type: an object, so that whoever hands it on counts one reference, where the
/// runtime would copy a value of any type by looking the type up. None is made of `Void`, which most closures return.
@usableFromInline
final class WorkValue: Sendable {
  let value: any Sendable

  @usableFromInline
  init(_ value: any Sendable) { self.value = value }

  @inlinable @inline(__always)
  static func of<R: Sendable>(_ result: R) -> WorkValue? { R.self == Void.self ? nil : WorkValue(result) }
}
