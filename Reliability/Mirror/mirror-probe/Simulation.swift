#if Etcd
  import TableMirror
  import TestSupport

  /// Hosts that all lose the store in one moment, and come back by the waits of ``BackOff``. The same each time.
  struct Simulation {
    /// Seconds without the store.
    let outage: Double
    /// For so many seconds of it, the last ones, it takes connections and does not answer yet: who tries then waits for it.
    let starting: Double
    /// The tries that failed, by the second after the beginning.
    private(set) var failures: [Int: Int] = [:]
    /// Those that did not, by the second after the outage's end, and the moment of the last one in seconds.
    private(set) var returns: [Int: Int] = [:]
    private(set) var last = 0.0

    init(hosts: Int, outage: Double, starting: Double = 0) {
      (self.outage, self.starting) = (outage, starting)
      var random = SplitMix(seed: 1)
      for _ in 0..<hosts { comeBack(&random) }
    }

    private mutating func comeBack(_ random: inout SplitMix) {
      var backOff = BackOff()
      var now = 0.0
      while true {
        // 53 bits: as many as a Double has.
        now += backOff.next(random: Double(random.next() >> 11) / Double(1 << 53)) / .seconds(1)
        if now >= outage - starting { break }
        failures[Int(now), default: 0] += 1
      }
      let back = max(0, now - outage)
      returns[Int(back), default: 0] += 1
      last = max(last, back)
    }

    /// How many come back in each second.
    var returnsBySecond: [Int] { (0...Int(last)).map { returns[$0] ?? 0 } }

    static func printTable(hosts: Int) {
      print(
        "outage | tries in its busiest second, all | in its last second | back in the busiest second | all are back after"
      )
      for outage in [0.1, 1, 10, 60, 600] {
        let simulation = Simulation(hosts: hosts, outage: outage)
        let (failures, returns) = (simulation.failures, simulation.returns)
        let busiest = failures.values.max() ?? 0
        let end = failures[Int(outage) - 1] ?? 0
        let tenths = (simulation.last * 10).rounded() / 10
        print("\(outage) s | \(busiest) | \(end) | \(returns.values.max() ?? 0) | \(tenths) s")
      }
    }
  }
#endif
