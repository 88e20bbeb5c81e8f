import SharedTable

/// The fastest read as a function of its own, for Tests/no-runtime-calls.sh to disassemble.
@inline(never)
func probeGet(
  _ table: Table, _ key: UnsafeRawBufferPointer, _ buffer: UnsafeMutableRawBufferPointer
) throws(TableError) -> Int? {
  try unsafe table.get(key, into: buffer)
}

/// Gives an array, and so calls the runtime: shows that the test can fail.
@inline(never)
func probeAllocatingGet(_ table: Table, _ key: [UInt8]) throws(TableError) -> [UInt8]? {
  try table.get(key)
}
