import CTrace
import SharedTable

/// What a traced writer does to one collection between the markers.
enum CollectionOperation: String, CaseIterable, WriterOperation {
  /// In front of a full leaf: it splits.
  case arrayInsertFront
  case arrayInsertMiddle
  /// Of a leaf that then joins its neighbour.
  case arrayRemove
  /// A leaf and a part of the next go, and the root, which has one child left.
  case arrayRemoveFirst
  case arrayAppend
  /// The full tail goes below the root.
  case arrayAppendFull
  /// A new key for which the index gets a page more.
  case dictionarySet
  case dictionaryOverwrite
  /// The index gives a page up.
  case dictionaryRemove
  case dictionaryRemoveWhere, dictionaryRemoveAll
  case setInsert
  /// A new element for which the ledger gets a page more.
  case cacheAdd
  /// A new element that pushes out another, by a limit in elements; or four, by a limit of their cost.
  case cacheEvict, cacheEvictByCost
  case cacheRemove
  /// Two barriers: a claim, and the value.
  case compute
  /// Of a struct that is a value.
  case mutate

  static let role = "collection-writer"
  static let judged = Judged.collections
  var snapshots: Int { 0 }
  var isShort: Bool { false }

  /// By how many it changes the nodes and pages that there are; nil = it depends on the hashes.
  var partsChange: Int? {
    switch self {
    case .arrayInsertFront, .arrayAppendFull, .dictionarySet, .cacheAdd: 1
    case .arrayRemove, .dictionaryRemove: -1
    case .arrayRemoveFirst: -2
    case .dictionaryRemoveWhere, .dictionaryRemoveAll: nil
    default: 0
    }
  }
}

/// The worker: `collection-writer VARIANT OPERATION TABLE`, as `image-writer` is.
let serveCollectionWriter: @Sendable ([String]) throws -> Void = { arguments in
  guard arguments.count == 3, let operation = CollectionOperation(rawValue: arguments[1]) else {
    throw Unavailable("which operation?")
  }
  var scene = try CollectionScene(arguments[2], arguments[0] == "rcu" ? .rcu : .rwlock)
  let act = try scene.prepare(operation)
  let parts = try scene.countParts()
  let stages = [scene.contents] + scene.outcomes
  say("\(scene.table.version) \(stages.map { "\(Contents($0))" }.joined(separator: " "))")
  ct_mark(Marker.begin, 0)
  try act()
  ct_mark(Marker.end, 0)
  let change = try scene.countParts() - parts
  guard operation.partsChange ?? change == change else {
    throw Unavailable("\(operation) changed the number of parts by \(change)")
  }
}
