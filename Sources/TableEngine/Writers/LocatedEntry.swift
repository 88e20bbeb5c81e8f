/// A value as a ``DirectBarrier`` found it, and where its key is in the index: until the barrier changes something.
@safe
public struct LocatedEntry {
  public let entry: FoundEntry
  /// Offset of the bucket word that leads to it.
  let place: Int

  @inline(__always)
  init(entry: FoundEntry, place: Int) {
    self.entry = entry
    self.place = place
  }
}
