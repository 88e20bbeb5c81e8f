import SharedTable

// What the page of this name shows. scripts/tidy.sh looks that it does.

struct Sample: SharedStruct {
  static let schemaName = "com.example.sample"
  var time: UInt64
  var value: Double
}
