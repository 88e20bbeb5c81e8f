/// The queue in which a handle's asynchronous writes to the mirrored store wait for each other. Kept by what is under way.
struct UpstreamQueue {
  private weak var queue: BarrierQueue?

  mutating func queue(of table: Table) -> BarrierQueue {
    if let queue { return queue }
    let made = BarrierQueue(in: table, subject: nil)
    queue = made
    return made
  }
}
