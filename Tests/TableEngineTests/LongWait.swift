/// Long enough that only a defect makes a wait end by it.
let longNanoseconds: UInt64 = 30_000_000_000
