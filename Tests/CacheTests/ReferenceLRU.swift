/// A true LRU, to measure against: a dictionary and a doubly linked list.
struct ReferenceLRU {
  let limit: Int
  private var nodes: [Int: Int] = [:]
  private var keys: [Int] = []
  private var next: [Int] = []
  private var previous: [Int] = []
  private var newest = -1
  private var oldest = -1

  init(limit: Int) { self.limit = limit }

  /// - Returns: whether it was a hit; a miss is inserted.
  mutating func use(_ key: Int) -> Bool {
    if let node = nodes[key] {
      unlink(node)
      linkAsNewest(node)
      return true
    }
    var node = keys.count
    if nodes.count == limit {
      node = oldest
      unlink(node)
      nodes[keys[node]] = nil
      keys[node] = key
    } else {
      keys.append(key)
      next.append(-1)
      previous.append(-1)
    }
    nodes[key] = node
    linkAsNewest(node)
    return false
  }

  private mutating func unlink(_ node: Int) {
    if previous[node] >= 0 { next[previous[node]] = next[node] } else { newest = next[node] }
    if next[node] >= 0 { previous[next[node]] = previous[node] } else { oldest = previous[node] }
  }

  private mutating func linkAsNewest(_ node: Int) {
    previous[node] = -1
    next[node] = newest
    if newest >= 0 { previous[newest] = node } else { oldest = node }
    newest = node
  }
}
