import SharedTable

/// Commands that use collections; nil for others.
func collectionAnswer(_ words: [String]) throws -> String? {
  switch words[0] {
  case "dictionary-set":
    try SharedDictionary<Int, Int>(words[1], table).set(Int(words[2])!, Int(words[3])!)
    return "ok"
  case "dictionary-get":
    return try SharedDictionary<Int, Int>(words[1], table)[Int(words[2])!].map(String.init) ?? "nil"
  default: return nil
  }
}
