// An applicative functor and a monad (C. McBride, R. Paterson, "Applicative programming with effects", 2008; P. Wadler,
// "Monads for functional programming", 1995): the laws are what lets people regroup a composed accessor without changing
// what it does. The effect is that of one section: parts run in the order in which they are written, later ones see what
// earlier ones changed, and the first that throws ends it all.
//
// What is composed of parts that only look, looks; as soon as one part changes something, so does the whole.

extension ReadAccessor {
  /// Applies a function to the result, in the section.
  public func map<Other>(_ transform: @escaping @Sendable (Output) throws -> Other) -> ReadAccessor<Other> {
    ReadAccessor<Other>(commonTable) { [body] copies in try transform(body(copies)) }
  }

  /// Runs this and then the other, in one section, and gives both results.
  public func zip<Second>(_ second: ReadAccessor<Second>) -> ReadAccessor<(Output, Second)> {
    ReadAccessor<(Output, Second)>(commonTable.joined(second.commonTable)) { [body] copies in
      (try body(copies), try second.body(copies))
    }
  }

  /// Runs this and then the others, in one section, and gives all results.
  public func zip<Second, Third>(
    _ second: ReadAccessor<Second>, _ third: ReadAccessor<Third>
  ) -> ReadAccessor<(Output, Second, Third)> {
    zip(second).zip(third).map { ($0.0, $0.1, $1) }
  }

  /// Runs this and then the others, in one section, and gives all results.
  // Beside the two above, not instead of them: a closure after a pack's `zip` needs its types spelt.
  public func zip<Second, Third, Fourth, each Other>(
    _ second: ReadAccessor<Second>, _ third: ReadAccessor<Third>, _ fourth: ReadAccessor<Fourth>,
    _ others: repeat ReadAccessor<each Other>
  ) -> ReadAccessor<(Output, Second, Third, Fourth, repeat each Other)> {
    let first = zip(second, third)
    var commonTable = first.commonTable.joined(fourth.commonTable)
    for other in repeat each others { commonTable = commonTable.joined(other.commonTable) }
    let bodies = (repeat (each others).body)
    return ReadAccessor<(Output, Second, Third, Fourth, repeat each Other)>(commonTable) { copies in
      let (one, two, three) = try first.body(copies)
      return (one, two, three, try fourth.body(copies), repeat try (each bodies)(copies))
    }
  }

  /// Runs this, then `argument`, in one section, and applies the function that this gave to what the other gave.
  public func apply<Argument, Other>(
    _ argument: ReadAccessor<Argument>
  ) -> ReadAccessor<Other> where Output == @Sendable (Argument) throws -> Other {
    ReadAccessor<Other>(commonTable.joined(argument.commonTable)) { [body] copies in
      try body(copies)(argument.body(copies))
    }
  }

  /// Runs this, and then, in the same section, the accessor that `next` makes of the result.
  ///
  /// An accessor of another table throws `wrongTable` when it is met.
  public func then<Other>(
    _ next: @escaping @Sendable (Output) throws -> ReadAccessor<Other>
  ) -> ReadAccessor<Other> {
    ReadAccessor<Other>(commonTable) { [body] copies in
      let following = try next(body(copies))
      try copies.admit(following.commonTable)
      return try following.body(copies)
    }
  }
}

extension Accessor {
  /// Applies a function to the result, in the barrier.
  public func map<Other>(_ transform: @escaping @Sendable (Output) throws -> Other) -> Accessor<Other> {
    Accessor<Other>(commonTable) { [body] copies in try transform(body(copies)) }
  }
}

/// Compositions of which any part is one that changes something: in one barrier.
extension TableAccessor {
  /// Runs this and then the other, in one barrier, and gives both results.
  @_disfavoredOverload
  public func zip<Second: TableAccessor>(_ second: Second) -> Accessor<(Output, Second.Output)> {
    let (first, second) = (promoted, second.promoted)
    return Accessor<(Output, Second.Output)>(first.commonTable.joined(second.commonTable)) { copies in
      (try first.body(copies), try second.body(copies))
    }
  }

  /// Runs this and then the others, in one barrier, and gives all results.
  @_disfavoredOverload
  public func zip<Second: TableAccessor, Third: TableAccessor>(
    _ second: Second, _ third: Third
  ) -> Accessor<(Output, Second.Output, Third.Output)> {
    promoted.zip(second).zip(third).map { ($0.0, $0.1, $1) }
  }

  /// Runs this and then the others, in one barrier, and gives all results.
  @_disfavoredOverload
  public func zip<Second: TableAccessor, Third: TableAccessor, Fourth: TableAccessor, each Other: TableAccessor>(
    _ second: Second, _ third: Third, _ fourth: Fourth, _ others: repeat each Other
  ) -> Accessor<(Output, Second.Output, Third.Output, Fourth.Output, repeat (each Other).Output)> {
    let (first, fourth) = (promoted.zip(second, third), fourth.promoted)
    var commonTable = first.commonTable.joined(fourth.commonTable)
    for other in repeat each others { commonTable = commonTable.joined(other.promoted.commonTable) }
    let bodies = (repeat (each others).promoted.body)
    return Accessor<(Output, Second.Output, Third.Output, Fourth.Output, repeat (each Other).Output)>(commonTable) {
      copies in
      let (one, two, three) = try first.body(copies)
      return (one, two, three, try fourth.body(copies), repeat try (each bodies)(copies))
    }
  }

  /// Runs this, then `argument`, in one barrier, and applies the function that this gave to what the other gave.
  @_disfavoredOverload
  public func apply<Argument: TableAccessor, Other>(
    _ argument: Argument
  ) -> Accessor<Other> where Output == @Sendable (Argument.Output) throws -> Other {
    let (function, argument) = (promoted, argument.promoted)
    return Accessor<Other>(function.commonTable.joined(argument.commonTable)) { copies in
      try function.body(copies)(argument.body(copies))
    }
  }

  /// Runs this, and then, in the same barrier, the accessor that `next` makes of the result.
  ///
  /// An accessor of another table throws `wrongTable` when it is met, and undoes the barrier.
  @_disfavoredOverload
  public func then<Next: TableAccessor>(
    _ next: @escaping @Sendable (Output) throws -> Next
  ) -> Accessor<Next.Output> {
    let first = promoted
    return Accessor<Next.Output>(first.commonTable) { copies in
      let following = try next(first.body(copies)).promoted
      try copies.admit(following.commonTable)
      return try following.body(copies)
    }
  }
}
