/// Somebody who wants to know what came of a piece of ``Work``. A list of them is the address of the newest, which holds the others.
final class WorkObserver: @unchecked Sendable {
  // Sendable because `older` is stored only while one thread knows the object.
  let tell: @Sendable (WorkResult) -> Void
  /// The address of the one that was the newest before it; 0 for none. It holds that one once it is in the list itself.
  var older: UInt = 0

  init(_ tell: @escaping @Sendable (WorkResult) -> Void) { self.tell = tell }

  /// Takes a list apart.
  /// - Parameter newest: an address of which the caller owns one reference; 0 for none.
  /// - Returns: the observers in the order in which they came.
  static func take(_ newest: UInt) -> [WorkObserver] {
    if newest == 0 { return [] }
    var observers: [WorkObserver] = []
    var address = newest
    while let pointer = unsafe UnsafeRawPointer(bitPattern: address) {
      let observer = unsafe Unmanaged<WorkObserver>.fromOpaque(pointer).takeRetainedValue()
      address = observer.older
      observers.append(observer)
    }
    return observers.reversed()
  }
}
