import Glibc
import TestSupport

@testable import RESPServer

/// A rule for the user that runs the tests.
func rule(_ rights: AccessRights, keys: [String]? = nil, tables: [String]? = nil) -> AccessRule {
  var rule = AccessRule(rights: rights)
  rule.users = [geteuid()]
  rule.keys = keys.map { $0.compactMap(KeyPattern.init) }
  rule.tables = tables
  return rule
}

/// Runs `body` with a server that has these rules, and a client.
func withServer(
  tables: Int = 1, granting rules: [AccessRule], _ body: (TestServer, RedisClient) throws -> Void
) async throws {
  try await withServer(tables: tables, adjusting: { $0.access = rules }, body)
}
