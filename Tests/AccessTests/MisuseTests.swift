import TestSupport
import Testing

/// Misuse that does not compile, with what the compiler says to it; and beside each the nearest right use, which does.
///
/// A case is text with `⟨wrong|right⟩` in it: so a case that fails for another reason than the one meant, fails in both forms.
@Suite struct MisuseTests {
  struct Misuse: Sendable, CustomTestStringConvertible {
    let name: String
    /// A stable part of the message.
    let message: String
    let text: String

    init(_ name: String, _ message: String, _ text: String) {
      self.name = name
      self.message = message
      self.text = text
    }

    var testDescription: String { name }
    var wrong: String { chosen(0) }
    var right: String { chosen(1) }

    private func chosen(_ index: Int) -> String {
      var result = ""
      for piece in text.split(separator: "⟨", omittingEmptySubsequences: false) {
        guard let end = piece.firstIndex(of: "⟩") else {
          result += piece
          continue
        }
        result += piece[..<end].split(separator: "|", omittingEmptySubsequences: false)[index]
        result += piece[piece.index(after: end)...]
      }
      return "import SharedTable\n\n\(result)\n"
    }
  }

  static let all = views + transactions + spans + accessors + writes

  static let views = [
    Misuse(
      "a view returned from its section", "requires that 'ReadView' conform to 'Escapable'",
      """
      private func use(_ table: Table) throws {
        _ = try table.read { (view: borrowing ReadView) -> ⟨ReadView|UInt64⟩ in view⟨|.version⟩ }
      }
      """),
    Misuse(
      "a view stored outside", "lifetime-dependent variable 'kept' escapes its scope",
      """
      private func use(_ table: Table) throws {
        var kept: ⟨ReadView|UInt64⟩?
        try table.read { view in kept = view⟨|.version⟩ }
        _ = kept
      }
      """),
    Misuse(
      "a view captured by an escaping closure",
      "'view' cannot be captured by an escaping closure since it is a borrowed parameter",
      """
      private func use(_ table: Table) throws {
        let later = try table.read { (view: borrowing ReadView) in
          let version = view.version
          return { () -> UInt64 in ⟨view.version|version⟩ }
        }
        _ = later()
      }
      """),
    Misuse(
      "a view captured by a task", "'view' cannot be captured by an escaping closure since it is a borrowed parameter",
      """
      private func use(_ table: Table) throws {
        try table.read { (view: borrowing ReadView) in
          let version = view.version
          _ = Task { ⟨view.version|version⟩ }
        }
      }
      """),
    Misuse(
      "a view carried over an await", "to parameter expecting synchronous function type",
      """
      private func pause() async {}
      private func use(_ table: Table) async throws {
        ⟨|await pause()⟩
        try table.read { (view: borrowing ReadView) in
          ⟨await pause()|⟩
          _ = view.version
        }
      }
      """),
    Misuse(
      "a write through a view", "value of type 'ReadView' has no member 'set'",
      """
      private func use(_ table: Table) throws {
        try table.⟨read|barrier⟩ { (view: ⟨borrowing ReadView|inout Transaction⟩) in try view.set("k", 1) }
      }
      """),
  ]

  static let transactions = [
    Misuse(
      "a transaction returned from its barrier", "requires that 'Transaction' conform to 'Escapable'",
      """
      private func use(_ table: Table) throws {
        _ = try table.barrier { (tx: inout Transaction) -> ⟨Transaction|UInt64⟩ in tx⟨|.now⟩ }
      }
      """),
    Misuse(
      "a transaction stored outside", "missing reinitialization of inout parameter 'tx' after consume",
      """
      private func use(_ table: Table) throws {
        var kept: ⟨Transaction|UInt64⟩? = nil
        try table.barrier { (tx: inout Transaction) in kept = ⟨consume tx|tx.now⟩ }
        _ = ⟨0|kept⟩
      }
      """),
    Misuse(
      "a transaction captured by an escaping closure", "escaping closure captures 'inout' parameter 'tx'",
      """
      private func use(_ table: Table) throws {
        let later = try table.barrier { (tx: inout Transaction) in
          let now = tx.now
          return { () -> UInt64 in ⟨tx.now|now⟩ }
        }
        _ = later()
      }
      """),
    Misuse(
      "a transaction captured by a task", "escaping closure captures 'inout' parameter 'tx'",
      """
      private func use(_ table: Table) throws {
        try table.barrier { (tx: inout Transaction) in
          let now = tx.now
          _ = Task { ⟨tx.now|now⟩ }
        }
      }
      """),
    Misuse(
      "a transaction carried over an await", "to parameter expecting synchronous function type",
      """
      private func pause() async {}
      private func use(_ table: Table) async throws {
        ⟨|await pause()⟩
        try await table.barrier { (tx: inout Transaction) in
          ⟨await pause()|⟩
          try tx.set("k", 1)
        }
      }
      """),
    Misuse(
      "a transaction copied", "missing reinitialization of inout parameter 'tx' after consume",
      """
      private func use(_ table: Table) throws {
        try table.barrier { (tx: inout Transaction) in
          let copy = tx⟨|.now⟩
          _ = copy⟨.now|⟩
        }
      }
      """),
    Misuse(
      "two transactions swapped", "requires that 'Transaction' conform to 'Escapable'",
      """
      private func use(_ one: Table, _ other: Table) throws {
        try one.barrier { (x: inout Transaction) in
          try other.barrier { (y: inout Transaction) in
            var (a, b) = (x.now, y.now)
            swap(&⟨x|a⟩, &⟨y|b⟩)
          }
        }
      }
      """),
  ]

  static let spans = [
    Misuse(
      "a value's bytes returned from their section", "requires that 'RawSpan' conform to 'Escapable'",
      """
      private func use(_ table: Table) throws {
        _ = try table.read { (view: borrowing ReadView) -> ⟨RawSpan|Int⟩? in
          try view.bytes(forKey: "k")⟨|?.byteCount⟩
        }
      }
      """),
    Misuse(
      "a value's bytes stored outside", "lifetime-dependent variable 'kept' escapes its scope",
      """
      private func use(_ table: Table) throws {
        var kept: ⟨RawSpan|Int⟩?
        try table.read { (view: borrowing ReadView) in kept = try view.bytes(forKey: "k")⟨|?.byteCount⟩ }
        _ = kept
      }
      """),
    Misuse(
      "a value's bytes captured by a task", "lifetime-dependent variable 'span' escapes its scope",
      """
      private func use(_ table: Table) throws {
        try table.read { (view: borrowing ReadView) in
          guard let span = try view.bytes(forKey: "k") else { return }
          let count = span.byteCount
          _ = Task { ⟨span.byteCount|count⟩ }
        }
      }
      """),
    Misuse(
      "an entry kept after the call it was passed to", "lifetime-dependent variable 'kept' escapes its scope",
      """
      private func use(_ table: Table) throws {
        try table.read { (view: borrowing ReadView) in
          var kept: ⟨EntryView|UInt64⟩?
          try view.forEach { (key: RawSpan, entry: EntryView) in
            kept = entry⟨|.version⟩
          }
          _ = kept
        }
      }
      """),
  ]

  static let accessors = [
    Misuse(
      "a guarded value touched outside a section", "value of type 'Guarded<Int>' has no member 'value'",
      """
      private func use(_ number: Guarded<Int>) throws -> Int {
        try number.⟨value|accessor { $0 }.accessSync()⟩
      }
      """),
    Misuse(
      "a write through a read accessor", "left side of mutating operator isn't mutable",
      """
      private func use(_ number: Guarded<Int>) -> ⟨Read|⟩Accessor<Void> { number.accessor { $0 += 1 } }
      """),
    Misuse(
      "a mutating member called in a read accessor", "cannot use mutating member on immutable value",
      """
      private func use(_ list: Guarded<[UInt8]>) -> ⟨Read|⟩Accessor<Void> { list.accessor { $0.append(1) } }
      """),
    Misuse(
      "a write in what follows a read accessor", "left side of mutating operator isn't mutable",
      """
      private func use(_ number: Guarded<Int>) -> ⟨Read|⟩Accessor<Void> {
        number.accessor { $0 }.then { x in number.accessor { $0 += x } }
      }
      """),
    Misuse(
      "a changing accessor given to a run that only reads",
      "cannot convert value of type 'Accessor<Int>' to expected argument type 'ReadAccessor<Int>'",
      """
      private func look(_ accessor: ReadAccessor<Int>) throws -> Int { try accessor.accessSync() }
      private func use(_ number: Guarded<Int>) throws -> Int {
        let change = number.accessor { (value: ⟨inout|⟩ Int) -> Int in
          ⟨value += 1|⟩
          return value
        }
        return try look(change)
      }
      """),
    Misuse(
      "a guarded value kept by reference", "mutable capture of 'inout' parameter 'value' is not allowed",
      """
      private func use(_ number: Guarded<Int>) -> Accessor<@Sendable () -> Int> {
        number.accessor { (value: inout Int) in
          value += 1
          let copy = value
          return { ⟨value|copy⟩ }
        }
      }
      """),
    Misuse(
      "an accessor that carries its value over an await", "to parameter expecting synchronous function type",
      """
      private func pause() async {}
      private func use(_ number: Guarded<Int>) async -> Accessor<Void> {
        ⟨|await pause()⟩
        return number.accessor { (value: inout Int) in
          ⟨await pause()|⟩
          value += 1
        }
      }
      """),
    Misuse(
      "a variable shared with an accessor's run", "mutation of captured var 'last' in concurrently-executing code",
      """
      private func use(_ number: Guarded<Int>) throws {
        var last = 0
        ⟨|last =⟩ try number.accessor { (value: Int) in ⟨last = value|value⟩ }.accessSync()
        _ = last
      }
      """),
    Misuse(
      "a result that may not change threads", "does not conform to the 'Sendable' protocol",
      """
      private final class Box⟨|: Sendable⟩ {}
      private func use(_ number: Guarded<Int>) async throws -> Box {
        try await number.accessor { (_: Int) in Box() }.access()
      }
      """),
    Misuse(
      "a blocking read access in a task", "'accessSync' is unavailable from asynchronous contexts",
      """
      private func use(_ look: ReadAccessor<Int>) async throws -> Int { try ⟨|await⟩ look.access⟨Sync|⟩() }
      """),
    Misuse(
      "a blocking change in a task", "'accessSync' is unavailable from asynchronous contexts",
      """
      private func use(_ change: Accessor<Int>) async throws -> Int { try ⟨|await⟩ change.access⟨Sync|⟩() }
      """),
    Misuse(
      "a blocking wait in a task", "'wait' is unavailable from asynchronous contexts",
      """
      private func use(_ item: WorkItem<Int>) ⟨async|⟩ throws -> Int { try item.wait() }
      """),
  ]

  /// Of the two forms with one name, the one that suspends is meant in a task.
  static let writes = [
    Misuse(
      "a blocking write in a task: t.set('k', 1)", "is 'async' but is not marked with 'await'",
      """
      private func use(_ t: Table) async throws { try ⟨|await ⟩t.set("k", 1) }
      """),
    Misuse(
      "a blocking write in a task: t.set('k', codable: [1])", "is 'async' but is not marked with 'await'",
      """
      import SharedTableFoundation
      private func use(_ t: Table) async throws { try ⟨|await ⟩t.set("k", codable: [1]) }
      """),
    Misuse(
      "a blocking write in a task: t.increment('k')", "is 'async' but is not marked with 'await'",
      """
      private func use(_ t: Table) async throws { try ⟨|await ⟩t.increment("k") }
      """),
    Misuse(
      "a blocking write in a task: t.remove('k')", "is 'async' but is not marked with 'await'",
      """
      private func use(_ t: Table) async throws { try ⟨|await ⟩t.remove("k") }
      """),
    Misuse(
      "a blocking write in a task: t.barrier", "is 'async' but is not marked with 'await'",
      """
      private func use(_ t: Table) async throws { try ⟨|await ⟩t.barrier { tx in try tx.set("k", 1) } }
      """),
    Misuse(
      "a blocking write in a task: t.barrier(keys: ['k'])", "is 'async' but is not marked with 'await'",
      """
      private func use(_ t: Table) async throws { try ⟨|await ⟩t.barrier(keys: ["k"]) { tx in try tx.set("k", 1) } }
      """),
    Misuse(
      "a blocking write in a task: v.mutate", "is 'async' but is not marked with 'await'",
      """
      private func use(_ v: SharedValue<Int>) async throws { try ⟨|await ⟩v.mutate { $0 += 1 } }
      """),
    Misuse(
      "a blocking write in a task: c.increment()", "is 'async' but is not marked with 'await'",
      """
      private func use(_ c: SharedCounter) async throws { try ⟨|await ⟩c.increment() }
      """),
    Misuse(
      "a blocking write in a task: a.append(1)", "is 'async' but is not marked with 'await'",
      """
      private func use(_ a: SharedArray<Int>) async throws { try ⟨|await ⟩a.append(1) }
      """),
    Misuse(
      "a blocking write in a task: d.set('a', 1)", "is 'async' but is not marked with 'await'",
      """
      private func use(_ d: SharedDictionary<String, Int>) async throws { try ⟨|await ⟩d.set("a", 1) }
      """),
    Misuse(
      "a blocking write in a task: s.insert('a')", "is 'async' but is not marked with 'await'",
      """
      private func use(_ s: SharedSet<String>) async throws { try ⟨|await ⟩s.insert("a") }
      """),
    Misuse(
      "a blocking write in a task: c.set('a', 1)", "is 'async' but is not marked with 'await'",
      """
      private func use(_ c: SharedCache<String, Int>) async throws { try ⟨|await ⟩c.set("a", 1) }
      """),
  ]

  @Test func misuseDoesNotCompileAndTheNearestRightUseDoes() throws {
    let compiler = try ClientCompiler()
    let wrong = try compiler.compile(Self.all.map(\.wrong))
    for (misuse, errors) in zip(Self.all, wrong) {
      #expect(errors.contains { $0.contains(misuse.message) }, "\(misuse.name): \(errors)")
    }
    let right = try compiler.compile(Self.all.map(\.right))
    for (use, errors) in zip(Self.all, right) { #expect(errors == [], "the right form of: \(use.name)") }
  }
}
