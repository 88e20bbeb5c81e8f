import SharedTable

/// What a typed read costs beside the raw one of the same bytes.
func typeContest() throws -> Contest {
  let workload = Workload(keyCount: 10_000)
  let ours = try OurTable(workload)
  let strings = try OurTable(workload)
  let integers = try OurTable(Workload(keyCount: 10_000, valueBytes: 8))
  let text = String(decoding: workload.value, as: UTF8.self)
  for index in 0..<workload.keyCount {
    let key = Key(at: workload.keys.baseAddress! + index * Workload.keyBytes)
    try strings.table.set(key, text)
    try integers.table.set(key, index)
  }
  func typed(_ name: String, _ table: Table, _ get: @escaping (Table, Key) throws -> Bool) -> Contestant {
    Contestant(name) { number in
      var key = workload.round(number).keys
      for _ in 0..<Workload.roundLookups {
        guard try get(table, Key(at: key)) else { throw Failure("\(name): a key is missing") }
        key += Workload.keyBytes
      }
      return Workload.roundLookups
    }
  }
  /// From bytes at hand, without a table.
  func made(_ name: String, _ make: @escaping (UnsafeRawBufferPointer) -> Bool) -> Contestant {
    Contestant(name) { _ in
      try workload.value.withUnsafeBytes { bytes in
        for _ in 0..<Workload.roundLookups where !make(bytes) { throw Failure("\(name): nothing was made") }
      }
      return Workload.roundLookups
    }
  }
  return Contest(
    name: "types", work: "one value of 100 bytes, or of 8", reference: "raw, 100 bytes",
    contestants: [
      Contestant("raw, 100 bytes") { try ours.get($0, from: ours.table) },
      typed("[UInt8]", ours.table) { try $0.get($1, as: [UInt8].self) != nil },
      made("[UInt8], made and released alone") { array(of: $0) != nil },
      typed("String", strings.table) { try $0.get($1, as: String.self) != nil },
      made("String, made and released alone") { string(of: $0) != nil },
      Contestant("raw, 8 bytes") { try integers.get($0, from: integers.table) },
      typed("Int", integers.table) { try $0.get($1, as: Int.self) != nil },
    ])
}

// Out of line: where the compiler sees that a value is released at once it makes none.
@inline(never) private func array(of bytes: UnsafeRawBufferPointer) -> [UInt8]? { [UInt8](tableBytes: bytes) }
@inline(never) private func string(of bytes: UnsafeRawBufferPointer) -> String? { String(tableBytes: bytes) }
