import SharedTable
import TestSupport
import Testing

/// What the values of a world are, and what a program does to them: the model that accessors are compared with.
struct Contents: Equatable, Sendable {
  /// Nil: the table has no such value.
  var numbers: [Int?]
  var text: String?

  static func random(_ random: inout SplitMix) -> Contents {
    Contents(
      numbers: (0..<2).map { _ in Bool.random(using: &random) ? Int.random(in: -9...9, using: &random) : nil },
      text: Bool.random(using: &random) ? "t" : nil)
  }
}

/// A table with two guarded numbers and a guarded text.
struct World: Sendable {
  static let initialNumber = 3
  static let initialText = "-"

  let table: Table
  let numbers: [Guarded<Int>]
  let text: Guarded<String>

  init(_ table: Table) {
    self.table = table
    numbers = ["x", "y"].map { Guarded($0, in: table, default: Self.initialNumber) }
    text = Guarded("s", in: table, default: Self.initialText)
  }

  func set(_ contents: Contents) throws {
    try table.barrier { tx in
      for (number, value) in zip(numbers, contents.numbers) {
        if let value { try tx.set(number.key, value) } else { try tx.remove(number.key) }
      }
      if let value = contents.text { try tx.set("s", value) } else { try tx.remove("s") }
    }
  }

  /// Everything there is in the table.
  func contents() throws -> Contents {
    try table.read { view in
      #expect(try view.keys().allSatisfy { ["x", "y", "s"].contains(String(decoding: $0, as: UTF8.self)) })
      return Contents(numbers: [try view.get("x"), try view.get("y")], text: try view.get("s"))
    }
  }
}

/// A function of one integer, of a family that is closed under nothing, so that no order of application looks like another.
struct Function: Sendable {
  let factor: Int
  let term: Int
  /// Throws for results that this divides.
  let refusing: Int?

  static func random(_ random: inout SplitMix) -> Function {
    Function(
      factor: [-3, -2, 2, 3, 5].randomElement(using: &random)!, term: Int.random(in: -7...7, using: &random),
      refusing: Int.random(in: 0..<6, using: &random) == 0 ? Int.random(in: 2...5, using: &random) : nil)
  }

  func callAsFunction(_ x: Int) throws -> Int {
    let result = x &* factor &+ term
    if let refusing, result % refusing == 0 { throw Refusal(number: result) }
    return result
  }

  /// The same in two steps, as what an accessor may give.
  func curried(_ x: Int) -> @Sendable (Int) throws -> Int {
    { y in try self(x &* 31 &+ y) }
  }
}

/// A composed accessor as data: built as an accessor, and run on the model.
indirect enum Program: Sendable {
  case pure(Int)
  case look(Int, Function)
  case lookAtText(Function)
  case change(Int, Function, Function)
  case append(Int, Function)
  case map(Program, Function)
  case zip(Program, Program, Program, Function)
  case apply(Program, Function, Program)
  case then(Program, Program, Program)

  static func random(_ random: inout SplitMix, depth: Int = 3, changes: Bool = true) -> Program {
    func function() -> Function { .random(&random) }
    func part() -> Program { .random(&random, depth: depth - 1, changes: changes) }
    let number = Int.random(in: 0...1, using: &random)
    if depth == 0 || Int.random(in: 0..<4, using: &random) == 0 {
      switch Int.random(in: 0..<(changes ? 6 : 3), using: &random) {
      case 0: return .pure(Int.random(in: -9...9, using: &random))
      case 1: return .look(number, function())
      case 2: return .lookAtText(function())
      case 3, 4: return .change(number, function(), function())
      default: return .append(Int.random(in: 0...9, using: &random), function())
      }
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return .map(part(), function())
    case 1: return .zip(part(), part(), part(), function())
    case 2: return .apply(part(), function(), part())
    default: return .then(part(), part(), part())
    }
  }

  private static func mixed(_ a: Int, _ b: Int, _ c: Int) -> Int { a &* 7 &+ b &* 11 &+ c &* 13 }

  func run(on contents: inout Contents) throws -> Int {
    switch self {
    case .pure(let value): return value
    case .look(let index, let function): return try function(contents.numbers[index] ?? World.initialNumber)
    case .lookAtText(let function): return try function((contents.text ?? World.initialText).utf8.count)
    case .change(let index, let change, let result):
      let old = contents.numbers[index] ?? World.initialNumber
      contents.numbers[index] = try change(old)
      return try result(old)
    case .append(let digit, let function):
      contents.text = (contents.text ?? World.initialText) + "\(digit)"
      return try function(contents.text!.utf8.count)
    case .map(let part, let function): return try function(part.run(on: &contents))
    case .zip(let a, let b, let c, let function):
      let (x, y) = (try a.run(on: &contents), try b.run(on: &contents))
      return try function(Self.mixed(x, y, c.run(on: &contents)))
    case .apply(let a, let function, let b):
      let applied = function.curried(try a.run(on: &contents))
      return try applied(b.run(on: &contents))
    case .then(let first, let odd, let even):
      return try (first.run(on: &contents) & 1 == 1 ? odd : even).run(on: &contents)
    }
  }

  func accessor(_ world: World) -> Accessor<Int> {
    switch self {
    case .pure(let value): return .pure(value, on: world.table)
    case .look, .lookAtText: return reader(world).promoted
    case .change(let index, let change, let result):
      return world.numbers[index].accessor { value in
        let old = value
        value = try change(old)
        return try result(old)
      }
    case .append(let digit, let function):
      return world.text.accessor { text in
        text += "\(digit)"
        return try function(text.utf8.count)
      }
    case .map(let part, let function): return part.accessor(world).map { try function($0) }
    case .zip(let a, let b, let c, let function):
      return a.accessor(world).zip(b.accessor(world), c.accessor(world)).map { try function(Self.mixed($0, $1, $2)) }
    case .apply(let a, let function, let b):
      return a.accessor(world).map { function.curried($0) }.apply(b.accessor(world))
    case .then(let first, let odd, let even):
      return first.accessor(world).then { ($0 & 1 == 1 ? odd : even).accessor(world) }
    }
  }

  /// - Precondition: made without changes.
  func reader(_ world: World) -> ReadAccessor<Int> {
    switch self {
    case .pure(let value): return .pure(value, on: world.table)
    case .look(let index, let function): return world.numbers[index].accessor { try function($0) }
    case .lookAtText(let function): return world.text.accessor { try function($0.utf8.count) }
    case .change, .append: preconditionFailure("not a reader")
    case .map(let part, let function): return part.reader(world).map { try function($0) }
    case .zip(let a, let b, let c, let function):
      return a.reader(world).zip(b.reader(world), c.reader(world)).map { try function(Self.mixed($0, $1, $2)) }
    case .apply(let a, let function, let b):
      return a.reader(world).map { function.curried($0) }.apply(b.reader(world))
    case .then(let first, let odd, let even):
      return first.reader(world).then { ($0 & 1 == 1 ? odd : even).reader(world) }
    }
  }
}
