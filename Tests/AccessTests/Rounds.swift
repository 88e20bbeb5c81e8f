import SharedTable
import TestSupport

typealias Unary = @Sendable (Int) throws -> Int

/// What a law is tried with: accessors that change values, functions and contents, drawn at random.
struct ChangingRound: Sendable {
  private let table: Table
  let start: Contents
  let u, v, w: Accessor<Int>
  let f, g: Function
  let fs, gs: Accessor<Unary>
  /// Two functions from a value to an accessor, whose accessor depends on the value.
  let next, after: @Sendable (Int) -> Accessor<Int>
  let x: Int

  init(seed: UInt64, _ world: World) {
    var random = SplitMix(seed: seed)
    func any() -> Accessor<Int> { Program.random(&random).accessor(world) }
    table = world.table
    start = Contents.random(&random)
    (u, v, w) = (any(), any(), any())
    let (f, g) = (Function.random(&random), Function.random(&random))
    (self.f, self.g) = (f, g)
    fs = u.map { f.curried($0) }
    gs = v.map { g.curried($0) }
    let (k, l) = (any(), any())
    next = { x in k.map { try f($0 &+ x) } }
    after = { x in x & 1 == 0 ? l : k.map { try g($0 &- x) } }
    x = Int.random(in: -9...9, using: &random)
  }

  func pure<T: Sendable>(_ value: T) -> Accessor<T> { .pure(value, on: table) }
}

/// What a law is tried with: accessors that look, functions and contents, drawn at random.
struct LookingRound: Sendable {
  private let table: Table
  let start: Contents
  let u, v, w: ReadAccessor<Int>
  let f, g: Function
  let fs, gs: ReadAccessor<Unary>
  /// Two functions from a value to an accessor, whose accessor depends on the value.
  let next, after: @Sendable (Int) -> ReadAccessor<Int>
  let x: Int
  /// An accessor that changes values, to mix the others with.
  let changing: Accessor<Int>

  init(seed: UInt64, _ world: World) {
    var random = SplitMix(seed: seed)
    func any() -> ReadAccessor<Int> { Program.random(&random, changes: false).reader(world) }
    table = world.table
    start = Contents.random(&random)
    (u, v, w) = (any(), any(), any())
    let (f, g) = (Function.random(&random), Function.random(&random))
    (self.f, self.g) = (f, g)
    fs = u.map { f.curried($0) }
    gs = v.map { g.curried($0) }
    let (k, l) = (any(), any())
    next = { x in k.map { try f($0 &+ x) } }
    after = { x in x & 1 == 0 ? l : k.map { try g($0 &- x) } }
    x = Int.random(in: -9...9, using: &random)
    changing = Program.random(&random).accessor(world)
  }

  func pure<T: Sendable>(_ value: T) -> ReadAccessor<T> { .pure(value, on: table) }
}
