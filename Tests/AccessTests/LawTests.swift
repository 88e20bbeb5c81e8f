import SharedTable
import TestSupport
import Testing

/// The laws of functors, applicative functors and monads, and agreement with a model, on random values, functions and
/// accessors. Two accessors are equal if from equal contents they give equal results, or refuse equally, and leave equal
/// contents.
@Suite struct LawTests {
  private typealias Unary = @Sendable (Int) throws -> Int
  private static let rounds: UInt64 = 120

  /// What running an accessor shows.
  private struct Observation: Equatable {
    var output: Int?
    var refusal: Refusal?
    var contents: Contents
  }

  private static func observe(_ world: World, _ start: Contents, _ body: () throws -> Int) throws -> Observation {
    try world.set(start)
    var (output, refusal): (Int?, Refusal?)
    do { output = try body() } catch let error as Refusal { refusal = error }
    return Observation(output: output, refusal: refusal, contents: try world.contents())
  }

  private static func modelled(_ program: Program, _ start: Contents) throws -> Observation {
    var contents = start
    do {
      let output = try program.run(on: &contents)
      return Observation(output: output, contents: contents)
    } catch let error as Refusal {
      return Observation(refusal: error, contents: start)
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func anAccessorDoesWhatItsPartsDoOneAfterTheOther(_ variant: Table.Variant) throws {
    let world = World(try Table.temporary(variant: variant))
    var refusals = 0
    for seed in 0..<(Self.rounds * 4) {
      var random = SplitMix(seed: seed)
      let start = Contents.random(&random)
      let program = Program.random(&random, depth: 4)
      let expected = try Self.modelled(program, start)
      if expected.refusal != nil { refusals += 1 }
      let seen = try Self.observe(world, start) { try program.accessor(world).accessSync() }
      #expect(seen == expected, "seed \(seed): \(program)")

      let reader = Program.random(&random, depth: 4, changes: false)
      let looked = try Self.modelled(reader, start)
      #expect(try Self.observe(world, start) { try reader.reader(world).accessSync() } == looked, "seed \(seed)")
      #expect(try Self.observe(world, start) { try reader.reader(world).promoted.accessSync() } == looked)
    }
    // Both outcomes are met often, or half of this compares nothing.
    #expect(refusals > 50 && refusals < Int(Self.rounds) * 3)
  }

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatChangeKeepTheLaws(_ variant: Table.Variant) throws {
    let world = World(try Table.temporary(variant: variant))
    let identity: Unary = { $0 }
    for seed in 0..<Self.rounds {
      var random = SplitMix(seed: seed)
      let start = Contents.random(&random)
      func any() -> Accessor<Int> { Program.random(&random).accessor(world) }
      @Sendable func pure<T: Sendable>(_ value: T) -> Accessor<T> { .pure(value, on: world.table) }
      let (u, v, w) = (any(), any(), any())
      let (f, g) = (Function.random(&random), Function.random(&random))
      let fs: Accessor<Unary> = u.map { f.curried($0) }
      let gs: Accessor<Unary> = v.map { g.curried($0) }
      let (k, l) = (any(), any())
      // Two functions from a value to an accessor, whose accessor depends on the value.
      let next: @Sendable (Int) -> Accessor<Int> = { x in k.map { try f($0 &+ x) } }
      let after: @Sendable (Int) -> Accessor<Int> = { x in x & 1 == 0 ? l : k.map { try g($0 &- x) } }
      let x = Int.random(in: -9...9, using: &random)

      let laws: [(String, Accessor<Int>, Accessor<Int>)] = [
        ("functor identity", u.map { $0 }, u),
        ("functor composition", u.map { try f($0) }.map { try g($0) }, u.map { try g(f($0)) }),
        ("applicative identity", pure(identity).apply(u), u),
        (
          "applicative homomorphism", pure { @Sendable y in try f(y) }.apply(pure(x)),
          pure(x).map { try f($0) }
        ),
        (
          "applicative interchange", fs.apply(pure(x)),
          pure { @Sendable (function: @escaping Unary) in try function(x) }.apply(fs)
        ),
        (
          "applicative composition",
          pure { @Sendable (outer: @escaping Unary) -> (@Sendable (@escaping Unary) -> Unary) in
            { inner in { y in try outer(inner(y)) } }
          }.apply(fs).apply(gs).apply(w),
          fs.apply(gs.apply(w))
        ),
        ("map is apply of pure", u.map { try f($0) }, pure { @Sendable y in try f(y) }.apply(u)),
        ("apply is zip", fs.apply(w), fs.zip(w).map { try $0($1) }),
        (
          "zip is associative", u.zip(v).zip(w).map { try f($0.0 &+ 3 &* $0.1 &+ 5 &* $1) },
          u.zip(v.zip(w)).map { try f($0 &+ 3 &* $1.0 &+ 5 &* $1.1) }
        ),
        (
          "zip takes several", u.zip(v).zip(w).map { try f($0.0 &+ 3 &* $0.1 &+ 5 &* $1) },
          u.zip(v, w).map { try f($0 &+ 3 &* $1 &+ 5 &* $2) }
        ),
        ("monad left identity", pure(x).then(next), next(x)),
        ("monad right identity", u.then { pure($0) }, u),
        ("monad associativity", u.then(next).then(after), u.then { next($0).then(after) }),
        ("apply is then", fs.apply(w), fs.then { function in w.map { try function($0) } }),
      ]
      for (law, left, right) in laws {
        let seen = try Self.observe(world, start) { try left.accessSync() }
        #expect(try Self.observe(world, start) { try right.accessSync() } == seen, "\(law), seed \(seed)")
      }
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatLookKeepTheLaws(_ variant: Table.Variant) throws {
    let world = World(try Table.temporary(variant: variant))
    let identity: Unary = { $0 }
    for seed in 0..<Self.rounds {
      var random = SplitMix(seed: seed)
      let start = Contents.random(&random)
      func any() -> ReadAccessor<Int> { Program.random(&random, changes: false).reader(world) }
      @Sendable func pure<T: Sendable>(_ value: T) -> ReadAccessor<T> { .pure(value, on: world.table) }
      let (u, v, w) = (any(), any(), any())
      let (f, g) = (Function.random(&random), Function.random(&random))
      let fs: ReadAccessor<Unary> = u.map { f.curried($0) }
      let gs: ReadAccessor<Unary> = v.map { g.curried($0) }
      let (k, l) = (any(), any())
      let next: @Sendable (Int) -> ReadAccessor<Int> = { x in k.map { try f($0 &+ x) } }
      let after: @Sendable (Int) -> ReadAccessor<Int> = { x in x & 1 == 0 ? l : k.map { try g($0 &- x) } }
      let x = Int.random(in: -9...9, using: &random)

      let laws: [(String, ReadAccessor<Int>, ReadAccessor<Int>)] = [
        ("functor identity", u.map { $0 }, u),
        ("functor composition", u.map { try f($0) }.map { try g($0) }, u.map { try g(f($0)) }),
        ("applicative identity", pure(identity).apply(u), u),
        (
          "applicative homomorphism", pure { @Sendable y in try f(y) }.apply(pure(x)),
          pure(x).map { try f($0) }
        ),
        (
          "applicative interchange", fs.apply(pure(x)),
          pure { @Sendable (function: @escaping Unary) in try function(x) }.apply(fs)
        ),
        (
          "applicative composition",
          pure { @Sendable (outer: @escaping Unary) -> (@Sendable (@escaping Unary) -> Unary) in
            { inner in { y in try outer(inner(y)) } }
          }.apply(fs).apply(gs).apply(w),
          fs.apply(gs.apply(w))
        ),
        ("apply is zip", fs.apply(w), fs.zip(w).map { try $0($1) }),
        (
          "zip takes several", u.zip(v).zip(w).map { try f($0.0 &+ 3 &* $0.1 &+ 5 &* $1) },
          u.zip(v, w).map { try f($0 &+ 3 &* $1 &+ 5 &* $2) }
        ),
        ("monad left identity", pure(x).then(next), next(x)),
        ("monad right identity", u.then { pure($0) }, u),
        ("monad associativity", u.then(next).then(after), u.then { next($0).then(after) }),
      ]
      for (law, left, right) in laws {
        let seen = try Self.observe(world, start) { try left.accessSync() }
        #expect(try Self.observe(world, start) { try right.accessSync() } == seen, "\(law), seed \(seed)")
        #expect(seen.contents == start, "\(law), seed \(seed): looking changed something")
      }

      // Promoting keeps composition, and a part that looks may be mixed with parts that change.
      let changing = Program.random(&random).accessor(world)
      let mixtures: [(String, Accessor<Int>, Accessor<Int>)] = [
        ("promoted map", u.map { try f($0) }.promoted, u.promoted.map { try f($0) }),
        ("promoted apply", fs.apply(w).promoted, fs.promoted.apply(w.promoted)),
        ("promoted then", u.then(next).promoted, u.promoted.then { next($0).promoted }),
        (
          "mixed zip", u.zip(changing, v).map { $0 &+ 3 &* $1 &+ 5 &* $2 },
          u.promoted.zip(changing, v.promoted).map { $0 &+ 3 &* $1 &+ 5 &* $2 }
        ),
        ("mixed apply", fs.apply(changing), fs.promoted.apply(changing)),
        ("mixed then", u.then { x in changing.map { $0 &+ x } }, u.promoted.then { x in changing.map { $0 &+ x } }),
        ("mixed then", changing.then(next), changing.then { next($0).promoted }),
      ]
      for (law, left, right) in mixtures {
        let seen = try Self.observe(world, start) { try left.accessSync() }
        #expect(try Self.observe(world, start) { try right.accessSync() } == seen, "\(law), seed \(seed)")
      }
    }
  }
}
