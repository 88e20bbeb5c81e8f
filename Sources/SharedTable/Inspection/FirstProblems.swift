/// Sentences about problems of one kind: the first few, and how many more there are.
///
/// A process that stores harmful bytes may make each word of them wrong. A sentence for each would take many times as much memory as the table.
struct FirstProblems {
  private static let most = 8
  private var sentences: [String] = []
  private var count = 0

  /// Are there so many that no more sentences are kept?
  var isFull: Bool { count >= Self.most }

  mutating func add(_ sentence: @autoclosure () -> String) {
    if !isFull { sentences.append(sentence()) }
    count += 1
  }

  /// The sentences, and one about those that were not kept.
  var all: [String] {
    count > sentences.count ? sentences + ["and \(count - sentences.count) more of this kind"] : sentences
  }
}
