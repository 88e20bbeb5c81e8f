import CShims

/// What a table is to hold from its first moment on: it comes back from a store.
///
/// The loader runs before anybody else can see the table, not even an observer: *data* has no magic number yet. A process
/// that dies meanwhile leaves a half-made table, which the next creator removes.
public struct TableLoad {
  /// Every version that the table hands out is above this one, and every entry's is at most this.
  public var base: UInt64
  /// Puts the entries there. An error of it ends the creation.
  public var fill: (Loader) throws(EngineError) -> Void

  public init(base: UInt64, fill: @escaping (Loader) throws(EngineError) -> Void) {
    self.base = base
    self.fill = fill
  }

  /// Above this, versions have no room beside the marks in slots' words.
  static let highestBase: UInt64 = 1 << 60
}
