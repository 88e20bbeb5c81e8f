/// A piece of work that several do in turn, round by round: whatever else the machine does falls on all alike, and
/// only ratios within one contest mean something.
struct Contest {
  /// get-10k
  let name: String
  /// What is done, in a sentence of the report.
  let work: String
  /// The contestant that the others' figures are divided by.
  let reference: String
  /// What the figures are.
  let unit: String
  /// Fewer rounds than asked for, where one takes long.
  let mostRounds: Int
  let contestants: [Contestant]

  init(
    name: String, work: String, reference: String, unit: String = "Nanoseconds", mostRounds: Int = .max,
    contestants: [Contestant]
  ) {
    precondition(contestants.contains { $0.name == reference }, "\(name): no contestant is called '\(reference)'")
    self.name = name
    self.work = work
    self.reference = reference
    self.unit = unit
    self.mostRounds = mostRounds
    self.contestants = contestants
  }
}

/// One who does the work.
struct Contestant {
  let name: String
  /// Is told before and after each round, outside the time measured: a writer beside it, say.
  let surroundings: (any Surroundings)?
  /// What an operation of turn `number`, which takes other keys than the turn before, cost: nanoseconds.
  let cost: (_ number: Int) throws -> Double

  /// - Parameter round: does the operations of a round and returns how many they were. Wall time counts.
  init(_ name: String, beside surroundings: (any Surroundings)? = nil, round: @escaping (Int) throws -> Int) {
    self.init(
      name, beside: surroundings,
      measuring: { number in
        let begin = now()
        let operations = try round(number)
        return Double(now() - begin) / Double(operations)
      })
  }

  /// - Parameter cost: measures for itself.
  init(_ name: String, beside surroundings: (any Surroundings)?, measuring cost: @escaping (Int) throws -> Double) {
    self.name = name
    self.surroundings = surroundings
    self.cost = cost
  }
}

/// Somebody who disturbs.
protocol Surroundings {
  func begin() throws
  func end() throws
}

extension Contest {
  /// Nanoseconds an operation, by contestant. Each turn takes the keys after those of the turn before it, whoever's that
  /// was. Of two contestants that read one large table or dictionary in the same order, the second would find in the
  /// caches what the first has just read.
  func run(rounds: Int) throws -> [String: Samples] {
    var times: [String: [Double]] = [:]
    var turn = 0
    for _ in 0..<min(rounds, mostRounds) {
      for contestant in contestants {
        try contestant.surroundings?.begin()
        try warmUp(contestant, &turn)
        times[contestant.name, default: []].append(try contestant.cost(turn))
        turn += 1
        try contestant.surroundings?.end()
      }
    }
    return times.mapValues { Samples($0) }
  }

  /// Unmeasured turns. The others have had the caches since its last one: what it meets there must be its own work. And
  /// who follows one that slept on a socket finds a processor that takes some milliseconds to come to speed again.
  private func warmUp(_ contestant: Contestant, _ turn: inout Int) throws {
    let begin = now()
    repeat {
      _ = try contestant.cost(turn)
      turn += 1
    } while now() - begin < 20_000_000
  }
}

/// What the rounds of one contestant came to.
struct Samples: Sendable {
  /// By round.
  private let values: [Double]
  private let sorted: [Double]

  init(_ values: [Double]) {
    self.values = values
    sorted = values.sorted()
  }

  var median: Double { at(0.5) }

  /// The median of what this contestant took in a round, compared with what the other took in the same round: a
  /// machine that is slower for some seconds is slower for both.
  func compared(with other: Samples, _ compare: (Double, Double) -> Double) -> Double {
    Samples(zip(values, other.values).map(compare)).median
  }

  /// The quartiles: where the middle half of the rounds lies.
  var spread: (low: Double, high: Double) { (at(0.25), at(0.75)) }

  private func at(_ quantile: Double) -> Double {
    sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * quantile))]
  }
}
