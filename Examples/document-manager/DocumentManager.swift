import SharedTable

/// The host's one list of documents, the same for every process that asks.
///
/// The manager that one finds in books on GCD (a singleton with a concurrent queue: reads run beside each other, changes are
/// barriers), for all processes of a host. It outlives any of them.
final class DocumentManager: Sendable {
  enum Failure: Error, Equatable {
    case emptyName
  }

  /// What makes it *one*: the first manager on the host chose it, and the others found it.
  let identity: Int
  private let queue: BarrierQueue
  private let documents: SharedArray<String>

  init(_ table: Table) throws {
    queue = try BarrierQueue(in: table, label: "org.example.documents")
    documents = try SharedArray("documents", in: table)
    identity = try SharedOnce<Int>("document-manager", in: table).value { .random(in: 1 ... .max) }
  }

  /// Adds a document. When this returns, every process sees it.
  func add(_ name: String) throws {
    // Before the barrier: a mistake must not hold anybody up.
    guard !name.isEmpty else { throw Failure.emptyName }
    try queue.sync(flags: .barrier) { tx in try documents.append(name, in: &tx) }
  }

  /// All documents at one moment: a copy, which nobody changes any more.
  func all() throws -> [String] {
    try queue.sync { view in
      var names: [String] = []
      try documents.forEach(in: view) { _, name in
        names.append(name)
      }
      return names
    }
  }
}
