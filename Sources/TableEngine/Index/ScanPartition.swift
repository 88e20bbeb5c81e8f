/// A range of hashes: what one thread scans at a time of a table that several scan together.
package struct ScanPartition: Sendable, Equatable {
  package let first: UInt64
  package let last: UInt64
}
