import CShims

/// Shape of the index: see "Index" in DESIGN.md.
@usableFromInline
enum SubTable {
  @usableFromInline static let bucketBytes = shm_bucket_size
  @usableFromInline static let bucketCount = SHM_BUCKETS
  @usableFromInline static let byteCount = shm_sub_table_size
  /// A key lies in its home bucket or one of the next three, unless its sub-table is deep.
  @usableFromInline static let window = SHM_BUCKET_WINDOW
  /// Deep sub-tables carry the offset of a further one behind their buckets.
  @usableFromInline static let link = shm_deep_sub_table_link_offset
  static let deepByteCount = shm_deep_sub_table_size
  @usableFromInline static let maximumDepth = SHM_DEPTH_AT_MOST

  @inlinable @inline(__always)
  static func bucket(_ subTable: Int, hash: UInt64, step: Int) -> Int {
    subTable + (Int(truncatingIfNeeded: hash) &+ step) & (bucketCount - 1) &* bucketBytes
  }
}
