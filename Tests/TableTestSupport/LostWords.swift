import CShims
public import SharedTable
import TableEngine
import Testing

extension Table {
  /// Damages the index: the first live words of a sub-table lead nowhere from now on.
  /// - Parameters:
  ///   - count: how many words.
  ///   - subTable: the sub-table's offset in *data*; nil = the table's first one.
  public func loseWords(_ count: Int = 1, ofSubTable subTable: Int? = nil) throws {
    let data = segment.data
    let first = subTable ?? Int(data.loadRelaxed(DataLayout.root) & (1 << 48 - 1))
    let places = stride(from: first, to: first + Int(shm_sub_table_size), by: 8)
      .filter { data.loadRelaxed($0) & (1 << 48 - 1) != 0 }.prefix(count)
    try #require(places.count == count)
    for place in places { data.storeRelaxed(place, data.loadRelaxed(place) | 0xffff_ffff_fff0) }
  }
}
