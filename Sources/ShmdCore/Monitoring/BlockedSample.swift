/// A table that cannot be had.
struct BlockedSample: Sendable {
  let table: String
  let problem: String
}
