/// An inner node that is being changed.
struct ArrayInner {
  /// A child as it lies in a node.
  struct Child: Equatable {
    let id: Int
    /// Elements below it.
    var count: Int
  }

  let level: Int
  var children: [Child]

  init(level: Int, children: [Child]) {
    self.level = level
    self.children = children
  }

  /// Nil if the node is no inner one, or a child of it cannot be.
  init?(_ node: borrowing ArrayNodeSpan) {
    guard node.countBelow != nil else { return nil }
    level = node.level
    children = node.children
  }

  /// Elements below; nil if that is no `Int`.
  var count: Int? {
    var sum = 0
    for child in children {
      let (next, overflow) = sum.addingReportingOverflow(child.count)
      if overflow { return nil }
      sum = next
    }
    return sum
  }

  var bytes: [UInt8] {
    let length = 8 + MemoryLayout<Child>.stride * children.count
    return unsafe [UInt8](unsafeUninitializedCapacity: length) { place, count in
      unsafe place.baseAddress!.withMemoryRebound(to: UInt32.self, capacity: 2) { words in
        unsafe words[0] = UInt32(level)
        unsafe words[1] = UInt32(children.count)
      }
      unsafe children.withUnsafeBytes { bytes in
        unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(place)[8...]).copyMemory(
          from: bytes)
      }
      count = length
    }
  }

  /// The children in as many parts as inner nodes are needed for them.
  static func parts(_ children: [Child], most: Int, filling: Bool) -> [[Child]] {
    if children.count <= most { return children.isEmpty ? [] : [children] }
    let size = filling || children.count > 2 * most ? most : (children.count + 1) / 2
    return stride(from: 0, to: children.count, by: size).map { first in
      Array(children[first..<min(first + size, children.count)])
    }
  }
}
