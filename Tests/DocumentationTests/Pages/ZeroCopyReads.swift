import SharedTable

// What the page of this name shows. scripts/tidy.sh looks that it does.

func sumOfSamples(_ table: Table) throws -> Int {
  let sum = try table.read { view in
    guard let span = try view.bytes(forKey: "samples") else { return 0 }
    return span.withUnsafeBytes { bytes in bytes.reduce(0) { $0 + Int($1) } }
  }
  return sum
}
