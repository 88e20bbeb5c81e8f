/// What ``ReadAccessor`` and ``Accessor`` have in common: a description of what to do in one section of one table.
public protocol TableAccessor<Output>: Sendable {
  /// What a run gives.
  associatedtype Output

  /// The same as an accessor that runs in a barrier.
  var promoted: Accessor<Output> { get }
}

/// Looks at guarded values, in one read section: one snapshot, whatever it is composed of (G1).
///
/// Immutable, and a value: running it twice does the same twice, each time in a section of its own. It cannot change
/// anything; ``promoted`` makes an ``Accessor`` of it, which can be composed with accessors that change values.
public struct ReadAccessor<Output>: TableAccessor {
  @usableFromInline let plan: ReadPlan<Output>

  var scope: AccessScope { plan.scope }
  var body: @Sendable (WorkingCopies) throws -> Output { plan.body }

  init(
    _ scope: AccessScope, look: AccessLook<Output>? = nil, _ body: @escaping @Sendable (WorkingCopies) throws -> Output
  ) {
    plan = ReadPlan(scope, look: look, body)
  }

  /// The same for a barrier.
  public var promoted: Accessor<Output> { Accessor(scope, body) }

  /// An accessor that touches no guarded value and gives `output`: a constant in a composition.
  public static func pure(_ output: Output, on table: Table) -> ReadAccessor where Output: Sendable {
    ReadAccessor(.one(table)) { _ in output }
  }
}

/// A look at one value in a section of its own, which it may wait for as long as it is told; nil = the table's timeout.
@usableFromInline typealias AccessLook<Output> = @Sendable (Duration?) throws -> Output

/// What a ``ReadAccessor`` is. A class, so that whoever hands it on counts one reference.
@usableFromInline
final class ReadPlan<Output>: Sendable {
  let scope: AccessScope
  let body: @Sendable (WorkingCopies) throws -> Output
  /// Of an accessor that looks at one value and is no composition: the same without working copies, and specialised where it was
  /// lifted.
  @usableFromInline let look: AccessLook<Output>?

  init(_ scope: AccessScope, look: AccessLook<Output>?, _ body: @escaping @Sendable (WorkingCopies) throws -> Output) {
    self.scope = scope
    self.look = look
    self.body = body
  }
}

/// Changes guarded values, in one barrier: all of it or, if any part throws or the process dies, nothing (G2).
///
/// Immutable, and a value: running it twice does the same twice, each time in a barrier of its own.
public struct Accessor<Output>: TableAccessor {
  let scope: AccessScope
  let body: @Sendable (WorkingCopies) throws -> Output
  /// Of an accessor that changes one value and is no composition: the value's key.
  let key: [UInt8]?

  @usableFromInline
  init(_ scope: AccessScope, key: [UInt8]? = nil, _ body: @escaping @Sendable (WorkingCopies) throws -> Output) {
    self.scope = scope
    self.key = key
    self.body = body
  }

  /// The same for a barrier.
  public var promoted: Accessor<Output> { self }

  /// An accessor that touches no guarded value and gives `output`: a constant in a composition.
  public static func pure(_ output: Output, on table: Table) -> Accessor where Output: Sendable {
    ReadAccessor.pure(output, on: table).promoted
  }
}

/// The table that an accessor's parts belong to, as far as that is known before it runs.
@usableFromInline
enum AccessScope: Sendable {
  case one(Table)
  /// Parts of two tables: no section can hold both, so running it is an error.
  case two(Table, Table)

  func joined(_ other: AccessScope) -> AccessScope {
    guard case .one(let ours) = self else { return self }
    switch other {
    case .two: return other
    case .one(let theirs):
      if !ours.isSameTable(as: theirs) { return .two(ours, theirs) }
      // Either handle would do for reading; only one that takes part can write.
      return .one(ours.isObserver ? theirs : ours)
    }
  }

  /// The handle to open the section on.
  /// - Parameter chosen: a handle that the caller wants it to run on; nil = the accessor's own.
  /// - Throws: `wrongTable`.
  func table(_ chosen: Table?) throws(TableError) -> Table {
    switch self {
    case .one(let own):
      guard let chosen, !own.isSameTable(as: chosen) else { return chosen ?? own }
      throw .wrongTable(own, runningOn: chosen)
    case .two(let first, let second):
      throw .wrongTable(second, runningOn: chosen ?? first)
    }
  }
}

extension Table {
  /// Another handle, perhaps; the same table in shared memory.
  func isSameTable(as other: Table) -> Bool { segment.uuid == other.segment.uuid }
}

extension TableError {
  static func wrongTable(_ part: Table, runningOn table: Table) -> TableError {
    TableError(
      .wrongTable, table: table.name,
      "a part of the accessor belongs to another table, '\(part.name)'; compose and run only values of one table")
  }
}
