import SharedTable
import TestSupport
import Testing

/// The laws of functors, applicative functors and monads, and agreement with a model, on random values, functions and
/// accessors. Two accessors are equal if from equal contents they give equal results, or refuse equally, and leave equal
/// contents.
@Suite struct LawTests {
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

  private static func expectEqual(
    _ law: String, _ seed: UInt64, _ world: World, _ start: Contents, _ left: () throws -> Int,
    _ right: () throws -> Int
  ) throws -> Observation {
    let seen = try observe(world, start, left)
    let other = try observe(world, start, right)
    #expect(other == seen, "\(law), seed \(seed)")
    return seen
  }

  /// Tries laws of accessors that change values, each in rounds with accessors drawn at random.
  private func expectEqual(
    _ variant: Table.Variant, _ laws: (ChangingRound) -> [(law: String, left: Accessor<Int>, right: Accessor<Int>)]
  ) throws {
    let world = World(try Table.temporary(variant: variant))
    for seed in 0..<Self.rounds {
      let round = ChangingRound(seed: seed, world)
      for (law, left, right) in laws(round) {
        _ = try Self.expectEqual(law, seed, world, round.start, { try left.accessSync() }, { try right.accessSync() })
      }
    }
  }

  /// Tries laws of accessors that look, which change nothing.
  private func expectEqual(
    _ variant: Table.Variant,
    _ laws: (LookingRound) -> [(law: String, left: ReadAccessor<Int>, right: ReadAccessor<Int>)]
  ) throws {
    let world = World(try Table.temporary(variant: variant))
    for seed in 0..<Self.rounds {
      let round = LookingRound(seed: seed, world)
      for (law, left, right) in laws(round) {
        let seen = try Self.expectEqual(
          law, seed, world, round.start, { try left.accessSync() }, { try right.accessSync() })
        #expect(seen.contents == round.start, "\(law), seed \(seed): looking changed something")
      }
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

  // MARK: - Accessors that change

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatChangeAreFunctors(_ variant: Table.Variant) throws {
    try expectEqual(variant) { (round: ChangingRound) in
      let (u, f, g) = (round.u, round.f, round.g)
      return [
        ("identity", u.map { $0 }, u),
        ("composition", u.map { try f($0) }.map { try g($0) }, u.map { try g(f($0)) }),
      ]
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatChangeAreApplicativeFunctors(_ variant: Table.Variant) throws {
    let identity: Unary = { $0 }
    try expectEqual(variant) { (round: ChangingRound) in
      let (u, w, f, x) = (round.u, round.w, round.f, round.x)
      let (fs, gs) = (round.fs, round.gs)
      return [
        ("identity", round.pure(identity).apply(u), u),
        (
          "homomorphism", round.pure { @Sendable y in try f(y) }.apply(round.pure(x)),
          round.pure(x).map { try f($0) }
        ),
        (
          "interchange", fs.apply(round.pure(x)),
          round.pure { @Sendable (function: @escaping Unary) in try function(x) }.apply(fs)
        ),
        (
          "composition",
          round.pure { @Sendable (outer: @escaping Unary) -> (@Sendable (@escaping Unary) -> Unary) in
            { inner in { y in try outer(inner(y)) } }
          }.apply(fs).apply(gs).apply(w),
          fs.apply(gs.apply(w))
        ),
        ("map is apply of pure", u.map { try f($0) }, round.pure { @Sendable y in try f(y) }.apply(u)),
      ]
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatChangeAreZipped(_ variant: Table.Variant) throws {
    try expectEqual(variant) { (round: ChangingRound) in
      let (u, v, w, f, fs) = (round.u, round.v, round.w, round.f, round.fs)
      return [
        ("apply is zip", fs.apply(w), fs.zip(w).map { try $0($1) }),
        (
          "zip is associative", u.zip(v).zip(w).map { try f($0.0 &+ 3 &* $0.1 &+ 5 &* $1) },
          u.zip(v.zip(w)).map { try f($0 &+ 3 &* $1.0 &+ 5 &* $1.1) }
        ),
        (
          "zip takes several", u.zip(v).zip(w).map { try f($0.0 &+ 3 &* $0.1 &+ 5 &* $1) },
          u.zip(v, w).map { try f($0 &+ 3 &* $1 &+ 5 &* $2) }
        ),
      ]
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatChangeAreMonads(_ variant: Table.Variant) throws {
    try expectEqual(variant) { (round: ChangingRound) in
      let (u, x, next, after) = (round.u, round.x, round.next, round.after)
      let (w, fs) = (round.w, round.fs)
      return [
        ("left identity", round.pure(x).then(next), next(x)),
        ("right identity", u.then { round.pure($0) }, u),
        ("associativity", u.then(next).then(after), u.then { next($0).then(after) }),
        ("apply is then", fs.apply(w), fs.then { function in w.map { try function($0) } }),
      ]
    }
  }

  // MARK: - Accessors that look

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatLookAreFunctors(_ variant: Table.Variant) throws {
    try expectEqual(variant) { (round: LookingRound) in
      let (u, f, g) = (round.u, round.f, round.g)
      return [
        ("identity", u.map { $0 }, u),
        ("composition", u.map { try f($0) }.map { try g($0) }, u.map { try g(f($0)) }),
      ]
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatLookAreApplicativeFunctors(_ variant: Table.Variant) throws {
    let identity: Unary = { $0 }
    try expectEqual(variant) { (round: LookingRound) in
      let (u, w, f, x) = (round.u, round.w, round.f, round.x)
      let (fs, gs) = (round.fs, round.gs)
      return [
        ("identity", round.pure(identity).apply(u), u),
        (
          "homomorphism", round.pure { @Sendable y in try f(y) }.apply(round.pure(x)),
          round.pure(x).map { try f($0) }
        ),
        (
          "interchange", fs.apply(round.pure(x)),
          round.pure { @Sendable (function: @escaping Unary) in try function(x) }.apply(fs)
        ),
        (
          "composition",
          round.pure { @Sendable (outer: @escaping Unary) -> (@Sendable (@escaping Unary) -> Unary) in
            { inner in { y in try outer(inner(y)) } }
          }.apply(fs).apply(gs).apply(w),
          fs.apply(gs.apply(w))
        ),
      ]
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatLookAreZipped(_ variant: Table.Variant) throws {
    try expectEqual(variant) { (round: LookingRound) in
      let (u, v, w, f, fs) = (round.u, round.v, round.w, round.f, round.fs)
      return [
        ("apply is zip", fs.apply(w), fs.zip(w).map { try $0($1) }),
        (
          "zip takes several", u.zip(v).zip(w).map { try f($0.0 &+ 3 &* $0.1 &+ 5 &* $1) },
          u.zip(v, w).map { try f($0 &+ 3 &* $1 &+ 5 &* $2) }
        ),
      ]
    }
  }

  @Test(arguments: Table.Variant.allCases)
  func accessorsThatLookAreMonads(_ variant: Table.Variant) throws {
    try expectEqual(variant) { (round: LookingRound) in
      let (u, x, next, after) = (round.u, round.x, round.next, round.after)
      return [
        ("left identity", round.pure(x).then(next), next(x)),
        ("right identity", u.then { round.pure($0) }, u),
        ("associativity", u.then(next).then(after), u.then { next($0).then(after) }),
      ]
    }
  }

  // MARK: - Both

  /// Promoting keeps composition, and a part that looks may be mixed with parts that change.
  @Test(arguments: Table.Variant.allCases)
  func accessorsThatLookComposeWithThoseThatChange(_ variant: Table.Variant) throws {
    let world = World(try Table.temporary(variant: variant))
    for seed in 0..<Self.rounds {
      let round = LookingRound(seed: seed, world)
      let (u, v, w, f, fs) = (round.u, round.v, round.w, round.f, round.fs)
      let (next, changing) = (round.next, round.changing)
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
        _ = try Self.expectEqual(law, seed, world, round.start, { try left.accessSync() }, { try right.accessSync() })
      }
    }
  }
}
