import SharedTable

/// The fastest read as a function of its own, for scripts/no-runtime-calls.sh to disassemble.
@inline(never)
func probeGet(
  _ table: Table, _ key: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer
) throws(TableError) -> Int? {
  try unsafe table.get(key, into: buffer)
}

/// Keeps the key beside the value, and so counts a reference: shows that the test can fail.
@inline(never)
func probeCountingGet(_ table: Table, _ key: [UInt8]) throws(TableError) -> (key: [UInt8], value: [UInt8]?) {
  (key, try table.get(key))
}
