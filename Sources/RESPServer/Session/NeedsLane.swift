/// A command would have to wait: that lane does.
struct NeedsLane: Error {
  let lane: Lane
}
