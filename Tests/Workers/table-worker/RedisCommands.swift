// What a test tells this process to do as a client of Redis.

import TestSupport

nonisolated(unsafe) var redis: RedisClient?

/// What tests of the server for Redis' clients ask for; nil for any other command.
func redisAnswer(_ words: [String]) throws -> String? {
  switch words[0] {
  case "redis-connect":
    redis = try RedisClient(words[1])
    return "ok"
  case "redis": return try redis!.call(words.dropFirst().map { Array($0.utf8) })
  case "redis-answer": return try redis!.answer()
  default: return nil
  }
}
