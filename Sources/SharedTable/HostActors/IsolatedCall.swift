/// Calls a closure that is isolated to an actor from code which knows that it runs in that actor's isolation: `assumeIsolated` without its
/// check, and without the object in memory that the check's caller pays for.
@frozen @usableFromInline
struct IsolatedCall<A: Actor, R> {
  @usableFromInline typealias Closure = (isolated A) throws -> R
  @usableFromInline let function: (isolated A, Closure) throws -> R

  @inlinable
  init(_ function: @escaping (isolated A, Closure) throws -> R) { self.function = function }

  /// To the machine what ``IsolatedCall`` is: `isolated` is a rule for the compiler only, and changes neither registers nor what is passed.
  @frozen @usableFromInline
  struct Plain {
    @usableFromInline let function: (A, Closure) throws -> R
  }

  /// Only in the actor's isolation: nothing looks whether it is so.
  @inlinable @unsafe
  func callAsFunction(_ actor: A, _ body: Closure) throws -> R {
    try unsafe unsafeBitCast(self, to: Plain.self).function(actor, body)
  }
}
