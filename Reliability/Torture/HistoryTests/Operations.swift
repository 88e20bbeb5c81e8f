import History

/// Short names for the operations of a history that a test writes down. Process numbers say nothing to the checker.
typealias Access = Operation.Access

func get(_ key: Int, _ value: UInt64, _ begin: UInt64, _ end: UInt64?, version: UInt64? = nil) -> Operation {
  Operation(process: 1, .single, begin: begin, end: end, [Access(key: key, .equals(value), version: version)])
}

func set(_ key: Int, _ value: UInt64, _ begin: UInt64, _ end: UInt64?) -> Operation {
  Operation(
    process: 2, .single, end == nil ? .pending : .done, begin: begin, end: end, [Access(key: key, write: value)])
}

func compareAndSet(
  _ key: Int, _ expected: UInt64, _ value: UInt64, _ begin: UInt64, _ end: UInt64?, held: Bool = true
) -> Operation {
  let access = held ? Access(key: key, .equals(expected), write: value) : Access(key: key, .differs(expected))
  return Operation(process: 3, .single, end == nil ? .pending : .done, begin: begin, end: end, [access])
}

func remove(_ key: Int, _ begin: UInt64, _ end: UInt64?, wasThere: Bool = true) -> Operation {
  let access = wasThere ? Access(key: key, .differs(0), write: 0) : Access(key: key, .equals(0))
  return Operation(process: 4, .single, end == nil ? .pending : .done, begin: begin, end: end, [access])
}

func barrier(
  _ version: UInt64, _ writes: [Int: UInt64], reads: [Int: UInt64] = [:], _ begin: UInt64, _ end: UInt64?,
  _ outcome: Operation.Outcome? = nil, copy: Int? = nil
) -> Operation {
  let accesses = reads.map { Access(key: $0, .equals($1)) } + writes.map { Access(key: $0, write: $1) }
  return Operation(
    process: 5, .barrier, outcome ?? (end == nil ? .pending : .done), begin: begin, end: end, version: version,
    replica: copy, accesses)
}

func section(
  _ version: UInt64, _ reads: [Int: UInt64], _ begin: UInt64, _ end: UInt64?, later: Bool = false, copy: Int? = nil
) -> Operation {
  Operation(
    process: 6, later || copy != nil ? .laterSection : .section, begin: begin, end: end, version: version,
    replica: copy,
    reads.map { Access(key: $0, .equals($1)) })
}

func problems(_ operations: Operation...) -> [String] { History(operations).problems() }
