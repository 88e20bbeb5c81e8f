/// What the units' memory is used for, in bytes. Its parts add up to the table's capacity, but for slabs' remainders.
public struct MemoryUse: Sendable, Equatable {
  /// Blocks and frames in use.
  public var used = 0
  /// Free blocks of slabs that have some in use: room for values of those sizes only.
  public var freeInSlabs = 0
  /// Free frames in superframes of which others are in use: room for values from 4 to 15 KiB, or parts of longer ones.
  public var freeFrames = 0
  /// Superframes of 16 KiB with nothing in them: room for anything.
  public var freeSuperframes = 0
  /// Units that the table may still claim from /dev/shm.
  public var unclaimed = 0

  public init() {}
}
