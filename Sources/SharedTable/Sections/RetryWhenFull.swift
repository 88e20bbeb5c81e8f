// A barrier that finds the table full undoes what it did and asks for gc, with which the next barrier begins. So one more attempt may
// find room, also if it is a removal, which needs some itself. Everything that this project writes starts over once; a user's own
// barrier does not, whose body may have done more than change the table.

extension TableError {
  /// The table was full, and no reader keeps the room that is missing.
  @usableFromInline package var mayFitAfterReclaiming: Bool { code == .full && holder == nil }
}

/// Runs `attempt`, which is one barrier, and once more if the table was full.
@inlinable @inline(__always)
package func retryingWhenFull<R, Failure: Error>(_ attempt: () throws(Failure) -> R) throws(Failure) -> R {
  var mayStartOver = true
  while true {
    do throws(Failure) {
      return try attempt()
    } catch {
      guard mayStartOver, let failure = error as? TableError, failure.mayFitAfterReclaiming else { throw error }
      mayStartOver = false
    }
  }
}
