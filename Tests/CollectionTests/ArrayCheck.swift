@testable import SharedTable

/// Small nodes: a few dozen elements make a tree of several levels.
let smallNodes = ArrayLimits(leafElements: 4, leafBytes: 64, children: 4)

extension SharedArray {
  /// What is wrong with the tree: nodes that break a rule, or that nobody can reach.
  func problems() throws -> [String] {
    try table.read { view in
      let state = try tree.state(in: view)
      var problems: [String] = []
      var nodes = 0
      func check(_ leaf: ArrayLeaf, _ id: Int) {
        if leaf.count > tree.limits.leafElements { problems.append("leaf \(id) has \(leaf.count) elements") }
        if leaf.data.count > tree.limits.leafBytes, leaf.count > 1 {
          problems.append("leaf \(id) has \(leaf.data.count) bytes")
        }
      }
      func walk(_ child: ArrayInner.Child, _ level: Int, isRoot: Bool) throws {
        nodes += 1
        if child.id >= state.next { problems.append("node \(child.id) has a number to come") }
        if level == 0 {
          check(try table.read { view in try tree.leaf(child, in: view) }, child.id)
          return
        }
        let inner = try table.read { view in try tree.inner(child, level: level, in: view) }
        if inner.children.count > tree.limits.children { problems.append("node \(child.id) has too many children") }
        if isRoot, inner.children.count < 2 { problems.append("the root has one child") }
        for child in inner.children { try walk(child, level - 1, isRoot: false) }
      }
      if state.rooted > 0 { try walk(.init(id: state.root, count: state.rooted), state.level, isRoot: true) }
      if state.tail > 0 {
        if state.tailCount == 0 { problems.append("the tail is empty") }
        try walk(.init(id: state.tail, count: state.tailCount), 0, isRoot: false)
      }
      let stored = try view.keys(prefix: name + "/").count
      if stored != nodes { problems.append("\(stored) nodes are stored, \(nodes) can be reached") }
      return problems
    }
  }
}
